import { JsonToken } from '../../lib/json/json-token.ts';
import { type PropertyList, type PropertyName, pinName } from '../../lib/json/property-list.ts';
import type { Fields, FieldsOrText } from './table.ts';

/**
 * Property names with a meaning of their own at the destination. A property of the source with such a
 * name is sent as `source_<name>`: unchanged it would shift times (`sent_at`, `offset`, `_`), write to
 * another project, or change or merge live persons.
 */
export const RESERVED = [
  'distinct_id',
  '$distinct_id',
  'token',
  '$token',
  'api_key',
  'sent_at',
  '$sent_at',
  '$ignore_sent_at',
  'offset',
  '_',
  '$set',
  '$set_once',
  '$unset',
  '$anon_distinct_id',
  '$groups',
  '$process_person_profile',
  '__proto__',
];

/** The name of a property of a person or group: all are free but the one that JavaScript takes for a prototype. */
export const toOwnName = (name: string): string => (name === '__proto__' ? 'source___proto__' : name);

/** The properties of a person or group that a record carries as an object. */
export function toOwnNames(fields: Fields): Fields {
  if (!Object.hasOwn(fields, '__proto__')) return fields;
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [toOwnName(name), value]));
}

export type Renames = ReadonlyMap<string, string | null>;

/** Names to change while copying; `null` leaves a field behind, for a table to pick up. */
export function createRenames(extra: Iterable<readonly [string, string | null]> = []): Renames {
  const renames = new Map<string, string | null>(RESERVED.map((name) => [name, `source_${name}`]));
  for (const [from, to] of extra) renames.set(from, to);
  // `copyProperties` looks for pinned names alone.
  for (const from of renames.keys()) pinName(from);
  return renames;
}

/** The fields of an object as properties of an event, values untouched. */
export function copyProperties(properties: PropertyList, source: FieldsOrText, renames: Renames): void {
  if (source instanceof JsonToken) {
    const { count, names, values } = source.members;
    for (let at = 0; at < count; at += 1) {
      const name = names[at] as PropertyName;
      const to = name.isPinned ? renames.get(name.text) : undefined;
      if (to !== null) properties.set(to ?? name, values[at]);
    }
    return;
  }
  for (const key of Object.keys(source)) {
    const to = renames.get(key);
    if (to === undefined) properties.set(key, source[key]);
    else if (to !== null) properties.set(to, source[key]);
  }
}
