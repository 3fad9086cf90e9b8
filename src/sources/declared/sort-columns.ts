import { type Rejected, rejected } from '../../contract/outcome.ts';
import { PropertyList } from '../../lib/json/property-list.ts';
import { shown } from '../../lib/preview.ts';
import { copyProperties, createRenames, toOwnName } from '../mapping/properties.ts';
import { asFields, type Fields } from '../mapping/table.ts';
import { createPlaceColumn, declaredRenames } from './column-plan.ts';
import { createReadColumn, isNull } from './declared-columns.ts';
import { NOT_JSON, parseJsonCell } from './json-cell.ts';
import {
  applyRules,
  createRuleLevel,
  isEmptyObject,
  listBelow,
  type NameRule,
  stepInto,
} from './name-rules.ts';
import type { DeclaredMapping } from './options.ts';

export interface SortedColumns {
  readonly event: PropertyList;
  readonly set: Record<string, unknown>;
  readonly setOnce: Record<string, unknown>;
  /** By position in `mapping.groups`. */
  readonly groups: readonly Record<string, unknown>[];
}

/** Sorts a record's columns into what they describe. A column's own name wins over a spread field's. */
export type SortColumns = (record: Fields) => SortedColumns | Rejected;

export type CreateSortColumns = (
  mapping: DeclaredMapping,
  nullValues: ReadonlySet<string>,
  /** Whether `rename` reaches fields inside lists. @default false */
  renamesInLists?: boolean,
) => SortColumns;

/**
 * `exclude` and `rename` reach every column of event, person and groups, the fields of spread columns as if
 * they were columns, and by a path (`user.email`) what is nested in either. Excluded is excluded: of a name
 * that is renamed as well, too.
 */
export const createSortColumns: CreateSortColumns = (mapping, nullValues, renamesInLists = false) => {
  const placeColumn = createPlaceColumn(mapping, { renames: 'all' });
  const readCell = createReadCell(mapping);
  const reserved = createRenames();
  const toPropertyName = (name: string) => reserved.get(name) ?? name;
  const rules = listNameRules(mapping);
  // What was spread is not repeated where it was.
  const nestedSpreads = mapping.spreadColumns.map((path): NameRule => ({ path, to: undefined }));
  const columnRules = createRuleLevel([...rules, ...nestedSpreads].filter(({ path }) => path.includes('.')));
  const spreads = mapping.spreadColumns
    .filter((name) => !mapping.exclude.includes(name))
    .map((name) => ({
      name,
      read: createReadColumn(name, nullValues),
      level: createRuleLevel([...rules, ...listBelow(rules, name)]),
    }));

  return (record) => {
    const sorted = createSorted(mapping);
    for (const { name, read, level } of spreads) {
      const value = read(record);
      if (value === undefined) continue;
      const fields = asFields(readCell(name, value));
      if (!fields) return rejectNoObject(name, value);
      const lift = (to: string, inner: unknown) => {
        sorted.event.set(toPropertyName(to), inner);
      };
      const kept =
        level.rules.length === 0 ? fields : (applyRules(level, fields, lift, renamesInLists) as Fields);
      copyProperties(sorted.event, kept, reserved);
    }
    for (const column of Object.keys(record)) {
      const place = placeColumn(column);
      if (place.kind === 'nowhere' || isNull(record[column], nullValues)) continue;
      const value = readCell(column, record[column]);
      if (value === NOT_JSON) return rejectNoJson(column, record[column]);
      const target = place.kind === 'group' ? sorted.groups[place.group] : sorted[place.kind];
      if (!target) continue;
      const below = columnRules.rules.length === 0 ? undefined : stepInto(columnRules, column).below;
      if (!below) {
        put(target, place.name, value);
        continue;
      }
      const toName = place.kind === 'event' ? toPropertyName : toOwnName;
      const lift = (to: string, inner: unknown) => {
        const name = toName(to);
        if (!isNull(inner, nullValues) && !holds(target, name)) put(target, name, inner);
      };
      const kept = applyRules(below, value, lift, renamesInLists);
      const left = asFields(kept);
      if (!left || !isEmptyObject(left)) put(target, place.name, kept);
    }
    return sorted;
  };
};

/** Version 1: `exclude` knows top-level columns alone, `rename` those of the event and of spread objects. */
export const createSortColumnsFirst: CreateSortColumns = (mapping, nullValues) => {
  const placeColumn = createPlaceColumn(mapping, { renames: 'event' });
  const renames = declaredRenames(mapping);
  const readCell = createReadCell(mapping);
  const spreads = mapping.spreadColumns.map((name) => ({ name, read: createReadColumn(name, nullValues) }));

  return (record) => {
    const sorted = createSorted(mapping);
    for (const { name, read } of spreads) {
      const value = read(record);
      if (value === undefined) continue;
      const fields = asFields(readCell(name, value));
      if (!fields) return rejectNoObject(name, value);
      copyProperties(sorted.event, fields, renames);
    }
    for (const column of Object.keys(record)) {
      const place = placeColumn(column);
      if (place.kind === 'nowhere' || isNull(record[column], nullValues)) continue;
      const value = readCell(column, record[column]);
      if (value === NOT_JSON) return rejectNoJson(column, record[column]);
      const target = place.kind === 'group' ? sorted.groups[place.group] : sorted[place.kind];
      if (target) put(target, place.name, value);
    }
    return sorted;
  };
};

type Target = PropertyList | Record<string, unknown>;

function put(target: Target, name: string, value: unknown): void {
  if (target instanceof PropertyList) target.set(name, value);
  else target[name] = value;
}

const holds = (target: Target, name: string): boolean =>
  target instanceof PropertyList ? target.has(name) : Object.hasOwn(target, name);

const listNameRules = ({ exclude, rename }: DeclaredMapping): NameRule[] => [
  ...exclude.map((path): NameRule => ({ path, to: undefined })),
  ...Object.entries(rename).map(([path, to]): NameRule => ({ path, to })),
];

/** Reads the text of a column that is declared to hold JSON. */
export function createReadCell({
  jsonColumns,
}: DeclaredMapping): (column: string, value: unknown) => unknown {
  const json = new Set(jsonColumns);
  return (column, value) => (json.has(column) && typeof value === 'string' ? parseJsonCell(value) : value);
}

const createSorted = ({ groups }: DeclaredMapping): SortedColumns => ({
  event: new PropertyList(),
  set: {},
  setOnce: {},
  groups: groups.map(() => ({})),
});

const rejectNoObject = (name: string, value: unknown) =>
  rejected('bad_field', `${name} is ${shown(value)}; an object was expected`);

const rejectNoJson = (column: string, value: unknown) =>
  rejected('bad_field', `${column} is ${shown(value)}; the manifest says it holds JSON`);
