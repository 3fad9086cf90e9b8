import { asFields, type Fields, hasValue, listFields } from '../mapping/table.ts';
import type { FieldFate, ListFieldFates } from '../source.ts';
import { listContextFields } from './context-fields.ts';
import { isReadBy } from './keep-all.ts';
import type { CallOptions } from './options.ts';
import { type CallDialect, listKnownContextOf } from './rules.ts';
import { NAMED, PAGE_3, RULED_FIELDS } from './tables.ts';

type Found = (readonly [path: string, fate: FieldFate])[];

const EVENT_CALLS: ReadonlySet<unknown> = new Set(['track', 'page', 'screen']);
const TRAIT_CALLS: ReadonlySet<unknown> = new Set(['identify', 'group']);
const PAGE_FIELDS = new Set(listFields(PAGE_3));

/** What the latest version of the mapping does with every field of a call, for the plan. */
export function createListFieldFates(dialect: CallDialect, options: CallOptions): ListFieldFates {
  const known = listKnownContextOf(dialect.table);
  const read = new Set([...[NAMED, dialect.table].flatMap(listFields), ...RULED_FIELDS]);
  const others: FieldFate = options.contextFields === 'drop' ? 'dropped' : 'kept';

  return (record) => {
    const type = record['type'];
    const isEvent = EVENT_CALLS.has(type);
    const found: Found = [];
    for (const name of Object.keys(record)) {
      const value = record[name];
      if (!hasValue(value)) continue;
      const fields = asFields(value);
      if (name === 'context' && fields) {
        for (const { path, isRead } of listContextFields(fields, known)) {
          const isTraits = path === 'context.traits';
          const isUsed = isEvent || (type === 'identify' && isTraits);
          const traits = isTraits ? asFields(fields['traits']) : undefined;
          if (!traits) found.push([path, isUsed ? (isRead ? 'mapped' : others) : 'dropped']);
          else
            for (const trait of listNames(traits))
              found.push([`${path}.${trait}`, isUsed ? 'kept' : 'dropped']);
        }
      } else if (name === 'properties' && fields) {
        for (const field of listNames(fields)) {
          const fate = type === 'page' && PAGE_FIELDS.has(field) ? 'mapped' : 'kept';
          found.push([`properties.${field}`, isEvent ? fate : 'dropped']);
        }
      } else if (name === 'traits' && fields) {
        const fate = TRAIT_CALLS.has(type) ? 'kept' : 'dropped';
        for (const field of listNames(fields)) found.push([`traits.${field}`, fate]);
      } else if (!isReadBy(name, type)) found.push([name, isEvent ? 'kept' : 'dropped']);
      else if (read.has(name)) found.push([name, 'mapped']);
      else listDropped(found, name, value, 1);
    }
    return found;
  };
}

const listNames = (fields: Fields): string[] => Object.keys(fields).filter((name) => hasValue(fields[name]));

const DEEPEST = 6;

function listDropped(found: Found, path: string, value: unknown, depth: number): void {
  const fields = depth < DEEPEST ? asFields(value) : undefined;
  if (!fields) found.push([path, 'dropped']);
  else for (const name of listNames(fields)) listDropped(found, `${path}.${name}`, fields[name], depth + 1);
}
