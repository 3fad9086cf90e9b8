import { type Rejected, rejected } from '../../contract/outcome.ts';
import { PropertyList } from '../../lib/json/property-list.ts';
import { shown } from '../../lib/preview.ts';
import { copyProperties, createRenames, toOwnName } from '../mapping/properties.ts';
import { asFields, type Fields } from '../mapping/table.ts';
import { type Claim, createSettle, FROM_COLUMN, FROM_PATH, FROM_SPREAD, type Target } from './claims.ts';
import { createPlaceColumn, declaredRenames } from './column-plan.ts';
import { createReadColumn, isNull } from './declared-columns.ts';
import { NOT_JSON, openJsonText, parseJsonCell } from './json-cell.ts';
import {
  applyRules,
  createRuleLevel,
  type InLists,
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

/** Sorts a record's columns into what they describe. */
export type SortColumns = (record: Fields) => SortedColumns | Rejected;

export type CreateSortColumns = (
  mapping: DeclaredMapping,
  nullValues: ReadonlySet<string>,
  /**
   * Whether `rename` reaches fields inside lists, and whether all values that claim one name are kept; else that of
   * a column takes the place of a spread field's. Both as of version 3. `keepsNested`: whether all values that
   * claim one name are kept inside lists, too. As of version 5.
   */
  rules?: { readonly renamesInLists?: boolean; readonly keepsAll?: boolean; readonly keepsNested?: boolean },
) => SortColumns;

/**
 * `exclude` and `rename` reach every column of event, person and groups, the fields of spread columns as if
 * they were columns, and by a path (`user.email`) what is nested in either. Excluded is excluded: of a name
 * that is renamed as well, too.
 */
export const createSortColumns: CreateSortColumns = (
  mapping,
  nullValues,
  { renamesInLists = false, keepsAll = false, keepsNested = false } = {},
) => {
  const placeColumn = createPlaceColumn(mapping, { renames: 'all' });
  const readCell = createReadCell(mapping);
  const openText = createOpenText(mapping);
  const reserved = createRenames();
  const toPropertyName = (name: string) => reserved.get(name) ?? name;
  const rules = listNameRules(mapping);
  const inLists: InLists = keepsNested ? 'rename_all' : renamesInLists ? 'rename' : 'leave';
  // What was spread is not repeated where it was.
  const nestedSpreads = mapping.spreadColumns.map((path): NameRule => ({ path, to: undefined }));
  const columnRules = createRuleLevel([...rules, ...nestedSpreads].filter(({ path }) => path.includes('.')));
  // An object that is spread may be a property of a person or group as well, where its fields are in it.
  const excluded = rules.filter(({ to }) => to === undefined);
  const spreadRules = new Map(
    mapping.spreadColumns
      .map((name) => [name, [...listBelow([...rules, ...nestedSpreads], name), ...excluded]] as const)
      .filter(([, below]) => below.length > 0)
      .map(([name, below]) => [name, createRuleLevel(below)]),
  );
  const findRulesBelow = (column: string) =>
    spreadRules.get(column) ??
    (columnRules.rules.length === 0 ? undefined : stepInto(columnRules, column).below);
  const spreads = mapping.spreadColumns
    .filter((name) => !mapping.exclude.includes(name))
    .map((name) => ({
      name,
      read: createReadColumn(name, nullValues),
      level: createRuleLevel([...rules, ...listBelow(rules, name)]),
    }));

  let isContested = false;
  const putAndWatch: PutClaim = (target, name, value) => {
    if (!(target instanceof PropertyList)) isContested ||= Object.hasOwn(target, name);
    const before = target instanceof PropertyList ? target.count : -1;
    put(target, name, value);
    if (target instanceof PropertyList && target.count === before) isContested = true;
  };
  const settle = createSettle(mapping, put);

  return (record) => {
    const sorted = createSorted(mapping);
    isContested = false;
    const bad = fill(sorted, record, keepsAll ? putAndWatch : put);
    if (bad) return bad;
    if (!isContested) return sorted;
    const claims: Claim[] = [];
    const settled = createSorted(mapping);
    fill(settled, record, (target, name, value, column, from) =>
      claims.push({ target, name, value, column, from }),
    );
    settle(claims);
    return settled;
  };

  function fill(sorted: SortedColumns, record: Fields, putClaim: PutClaim): Rejected | undefined {
    for (const [index, { name, read, level }] of spreads.entries()) {
      const value = read(record);
      if (value === undefined) continue;
      const fields = asFields(readCell(name, value));
      // What would have been hashed in it is not shown either.
      if (!fields) return rejectNoObject(name, mapping.hash ? 'something else' : shown(value));
      const from = FROM_SPREAD + index;
      const lift = (to: string, inner: unknown) =>
        putClaim(sorted.event, toPropertyName(to), inner, to, from);
      const kept = level.rules.length === 0 ? fields : (applyRules(level, fields, lift, inLists) as Fields);
      for (const key of Object.keys(kept)) putClaim(sorted.event, toPropertyName(key), kept[key], key, from);
    }
    for (const column of Object.keys(record)) {
      const place = placeColumn(column);
      if (place.kind === 'nowhere' || isNull(record[column], nullValues)) continue;
      const value = readCell(column, record[column]);
      if (value === NOT_JSON) return rejectNoJson(column, record[column]);
      const target = place.kind === 'group' ? sorted.groups[place.group] : sorted[place.kind];
      if (!target) continue;
      const below = findRulesBelow(column);
      if (!below) {
        putClaim(target, place.name, value, column, FROM_COLUMN);
        continue;
      }
      const toName = place.kind === 'event' ? toPropertyName : toOwnName;
      const lift = (to: string, inner: unknown) => {
        const name = toName(to);
        if (!isNull(inner, nullValues) && (keepsAll || !holds(target, name)))
          putClaim(target, name, inner, to, FROM_PATH);
      };
      const kept = applyRules(below, openText(column, value), lift, inLists);
      const left = asFields(kept);
      if (!left || !isEmptyObject(left)) putClaim(target, place.name, kept, column, FROM_COLUMN);
    }
    return undefined;
  }
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
      if (!fields) return rejectNoObject(name, shown(value));
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

type PutClaim = (target: Target, name: string, value: unknown, column: string, from: number) => void;

function put(target: Target, name: string, value: unknown): void {
  if (target instanceof PropertyList) target.set(name, value);
  else target[name] = value;
}

const holds = (target: Target, name: string): boolean =>
  target instanceof PropertyList ? target.has(name) : Object.hasOwn(target, name);

const listNameRules = ({ exclude, rename, spreadColumns }: DeclaredMapping): NameRule[] => [
  ...[...exclude, ...listInnerFields(exclude, spreadColumns)].map(
    (path): NameRule => ({ path, to: undefined }),
  ),
  ...Object.entries(rename).map(([path, to]): NameRule => ({ path, to })),
];

/** Where one spread column is within another, a field of it is a field of both: whichever names it, neither has it. */
function listInnerFields(exclude: readonly string[], spreadColumns: readonly string[]): string[] {
  const isWithin = (name: string, other: string) => name.startsWith(`${other}.`);
  return spreadColumns
    .filter((name) => spreadColumns.some((other) => isWithin(name, other) || isWithin(other, name)))
    .flatMap((name) => exclude.map((path) => `${name}.${path}`));
}

/** Reads the text of a column that is declared to hold JSON. */
export function createReadCell({
  jsonColumns,
}: DeclaredMapping): (column: string, value: unknown) => unknown {
  const json = new Set(jsonColumns);
  return (column, value) => (json.has(column) && typeof value === 'string' ? parseJsonCell(value) : value);
}

/** The same where it is JSON that was written as text twice: what is excluded may be in it. */
const createOpenText =
  ({ jsonColumns }: DeclaredMapping) =>
  (column: string, value: unknown): unknown =>
    typeof value === 'string' && jsonColumns.includes(column) ? (openJsonText(value) ?? value) : value;

const createSorted = ({ groups }: DeclaredMapping): SortedColumns => ({
  event: new PropertyList(),
  set: {},
  setOnce: {},
  groups: groups.map(() => ({})),
});

const rejectNoObject = (name: string, found: string) =>
  rejected('bad_field', `${name} is ${found}; an object was expected`);

const rejectNoJson = (column: string, value: unknown) =>
  rejected('bad_field', `${column} is ${shown(value)}; the manifest says it holds JSON`);
