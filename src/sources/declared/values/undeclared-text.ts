import { asFields, type Fields } from '../../mapping/table.ts';
import { openJsonText } from '../json-cell.ts';
import type { DeclaredMapping } from '../options.ts';
import { isTextDeclared } from './changed-place.ts';

/** Text of JSON that nothing in the manifest says to read, and in which a rule that keeps personal data back misses some. */
export interface MissedText {
  /** The column that it is in. */
  readonly column: string;
  /** Where it is. */
  readonly path: string;
  /** Its name in `types`. */
  readonly typedAs: string;
}

export type FindMissed = (record: Fields) => MissedText | undefined;

/** Undefined where no path of a rule leads into a value. */
export function createFindMissed(
  mapping: DeclaredMapping,
  hashed: readonly string[],
): { readonly ofHash: FindMissed; readonly ofExclude: FindMissed } | undefined {
  const { spreadColumns, exclude, jsonColumns, unnest } = mapping;
  const spreads = spreadColumns.filter((name) => !exclude.includes(name));
  const hashes = listNested(hashed, spreads, mapping);
  const excludes = listNested(
    exclude.filter((path) => !exclude.some((other) => path.startsWith(`${other}.`))),
    spreads,
    mapping,
  );
  if (excludes.length + hashes.length === 0) return undefined;
  const excluded = new Set(exclude);
  const create =
    (paths: readonly NestedPath[], readLater: ReadonlySet<string>): FindMissed =>
    (record) => {
      const found = findText(record, paths, excluded, readLater);
      if (!found) return undefined;
      const spread = spreads.find((name) => found.path.startsWith(`${name}.`));
      return { ...found, typedAs: spread ? found.path.slice(spread.length + 1) : found.path };
    };
  return {
    ofHash: create(hashes, NONE),
    ofExclude: create(excludes, new Set([...jsonColumns, ...(unnest ? [unnest.column] : [])])),
  };
}

/** A path in the record that a rule names. */
interface NestedPath {
  readonly path: string;
  /** The spread column that it is a field of, where its text is read as the field is changed. */
  readonly readAt?: string | undefined;
}

/**
 * The rules that lead into a value. A column itself that is spread and holds text that nobody reads makes its record a
 * reject anyway.
 */
const listNested = (
  rules: readonly string[],
  spreads: readonly string[],
  mapping: DeclaredMapping,
): NestedPath[] => [
  ...rules.filter(isNested).map((path) => ({ path })),
  ...spreads.flatMap((spread) =>
    rules
      .filter((path) => isNested(path) || isNested(spread))
      .map((path) => ({
        path: `${spread}.${path}`,
        readAt: isTextDeclared(spread, mapping) ? spread : undefined,
      })),
  ),
];

const isNested = (path: string): boolean => path.includes('.');
const openIfText = (value: unknown): unknown => (typeof value === 'string' ? openJsonText(value) : value);

const NONE: ReadonlySet<string> = new Set();

/** Where one of the paths leads through text to a value. `readLater`: columns whose text is read afterwards. */
function findText(
  record: Fields,
  paths: readonly NestedPath[],
  excluded: ReadonlySet<string>,
  readLater: ReadonlySet<string>,
): Pick<MissedText, 'column' | 'path'> | undefined {
  for (const { path, readAt } of paths)
    for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
      const column = path.slice(0, dot);
      if (!Object.hasOwn(record, column) || excluded.has(column)) continue;
      const value = readLater.has(column) ? openIfText(record[column]) : record[column];
      const text = findTextIn(value, path.slice(dot + 1), column, readAt);
      if (text !== undefined) return { column, path: text };
    }
  return undefined;
}

/** What text of an object or list begins with, and such text that was written as text again. */
const MAY_BE_JSON = /^\s*["[{]/;

/** `at`: where the value is. */
function findTextIn(
  exported: unknown,
  path: string,
  at: string,
  readAt: string | undefined,
): string | undefined {
  const value = at === readAt ? openIfText(exported) : exported;
  if (typeof value === 'string')
    return MAY_BE_JSON.test(value) && leadsTo(openJsonText(value), path) ? at : undefined;
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = findTextIn(item, path, at, readAt);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const fields = asFields(value);
  if (!fields) return undefined;
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(fields, name)) continue;
    const found = findTextIn(fields[name], path.slice(dot + 1), `${at}.${name}`, readAt);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a path leads to a value, through text or not. */
function leadsTo(value: unknown, path: string): boolean {
  if (Array.isArray(value)) return value.some((item) => leadsTo(item, path));
  if (typeof value === 'string') return MAY_BE_JSON.test(value) && leadsTo(openJsonText(value), path);
  const fields = asFields(value);
  if (!fields) return false;
  if (Object.hasOwn(fields, path)) return true;
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (Object.hasOwn(fields, name) && leadsTo(fields[name], path.slice(dot + 1))) return true;
  }
  return false;
}
