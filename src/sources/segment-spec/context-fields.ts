import type { PropertyList } from '../../lib/json/property-list.ts';
import { asFields, type Fields, hasValue, type Table } from '../mapping/table.ts';

/** Sets a property that may have been set before. */
export type SetProperty = (properties: PropertyList, name: string, value: unknown) => void;

/** A field that tables or rules read as a whole, or one whose fields they read. */
export interface KnownField {
  readonly isRead: boolean;
  readonly fields: ReadonlyMap<string, KnownField>;
  /** Names of properties for the fields beside those, each made once: a new text would be looked up letter by letter. */
  readonly names: Map<string, string>;
}

/** The fields of the context that tables read, and `others` beside them. All are paths from the record on. */
export function listKnownContext(tables: readonly Table[], others: readonly string[]): KnownField {
  const paths = [...tables.flatMap((table) => Object.values(table).flat()), ...others]
    .map((path) => path.split('.'))
    .filter(([first]) => first === 'context');
  return toKnownField(paths.map(([, ...names]) => names));
}

function toKnownField(paths: readonly (readonly string[])[]): KnownField {
  const below = groupByFirst(paths);
  return {
    isRead: below.size === 0,
    fields: new Map([...below].map(([name, rest]) => [name, toKnownField(rest)])),
    names: new Map(),
  };
}

function groupByFirst(paths: readonly (readonly string[])[]): Map<string, (readonly string[])[]> {
  const groups = new Map<string, (readonly string[])[]>();
  for (const [first, ...rest] of paths) {
    if (first === undefined) continue;
    const group = groups.get(first) ?? [];
    group.push(rest);
    groups.set(first, group);
  }
  return groups;
}

/** What is below is one value: records may be nested as deeply as their sender likes. */
const DEEPEST = 6;
const NAMES_KEPT = 1_000;

/**
 * Copies what nothing reads as `context_<path>`, as warehouses call it. It runs for every field of every record, so
 * nothing is made for those that are known.
 */
export function copyOtherContext(
  properties: PropertyList,
  fields: Fields,
  known: KnownField | undefined,
  set: SetProperty,
  prefix = 'context_',
  depth = 1,
): void {
  for (const name of Object.keys(fields)) {
    const inner = known?.fields.get(name);
    if (inner?.isRead) continue;
    const value = fields[name];
    if (!hasValue(value)) continue;
    const below = depth < DEEPEST ? asFields(value) : undefined;
    if (below) copyOtherContext(properties, below, inner, set, `${prefix}${name}_`, depth + 1);
    else set(properties, known ? getName(known, prefix, name) : prefix + name, value);
  }
}

function getName({ names }: KnownField, prefix: string, name: string): string {
  let full = names.get(name);
  if (full === undefined) {
    full = prefix + name;
    if (names.size < NAMES_KEPT) names.set(name, full);
  }
  return full;
}

/** Every field of a context that holds something, for the plan: those that are read, and the leaves of all others. */
export function* listContextFields(
  fields: Fields,
  known: KnownField | undefined,
  path = 'context',
  depth = 1,
): Generator<{ readonly path: string; readonly isRead: boolean }> {
  for (const name of Object.keys(fields)) {
    const value = fields[name];
    if (!hasValue(value)) continue;
    const inner = known?.fields.get(name);
    const at = `${path}.${name}`;
    const below = !inner?.isRead && depth < DEEPEST ? asFields(value) : undefined;
    if (below) yield* listContextFields(below, inner, at, depth + 1);
    else yield { path: at, isRead: inner?.isRead === true };
  }
}
