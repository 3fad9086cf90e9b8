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
  const hashes = listNested(hashed, spreads);
  const excludes = listNested(
    exclude.filter((path) => !exclude.some((other) => path.startsWith(`${other}.`))),
    spreads,
  );
  if ([...hashes.ofRecord, ...hashes.ofFields, ...excludes.ofRecord, ...excludes.ofFields].length === 0)
    return undefined;
  const excluded = new Set(exclude);
  const readWithPlace = new Set(spreads.filter((name) => isTextDeclared(name, mapping)));
  const create =
    ({ ofRecord, ofFields }: NestedPaths, readLater: ReadonlySet<string>): FindMissed =>
    (record) => {
      const found =
        findText(record, ofRecord, { excluded, readLater, readWithPlace: NONE }) ??
        findText(record, ofFields, { excluded, readLater, readWithPlace });
      if (!found) return undefined;
      const spread = spreads.find((name) => found.path.startsWith(`${name}.`));
      return { ...found, typedAs: spread ? found.path.slice(spread.length + 1) : found.path };
    };
  return {
    ofHash: create(hashes, NONE),
    ofExclude: create(excludes, new Set([...jsonColumns, ...(unnest ? [unnest.column] : [])])),
  };
}

/** Paths of rules that lead into a value. */
interface NestedPaths {
  readonly ofRecord: readonly string[];
  /** Of fields of spread columns, with the name of the column. */
  readonly ofFields: readonly string[];
}

/** A column itself that is spread and holds text that nobody reads makes its record a reject anyway. */
const listNested = (rules: readonly string[], spreads: readonly string[]): NestedPaths => ({
  ofRecord: rules.filter(isNested),
  ofFields: spreads.flatMap((spread) =>
    rules.filter((path) => isNested(path) || isNested(spread)).map((path) => `${spread}.${path}`),
  ),
});

const isNested = (path: string): boolean => path.includes('.');
const openIfText = (value: unknown): unknown => (typeof value === 'string' ? openJsonText(value) : value);

const NONE: ReadonlySet<string> = new Set();

interface KnownText {
  /** Columns that are left out. */
  readonly excluded: ReadonlySet<string>;
  /** Columns whose text is read afterwards. */
  readonly readLater: ReadonlySet<string>;
  /** Columns and paths whose text is read where a field in it is changed. */
  readonly readWithPlace: ReadonlySet<string>;
}

/** Where one of the paths leads through text to a value. */
function findText(
  record: Fields,
  paths: readonly string[],
  { excluded, readLater, readWithPlace }: KnownText,
): Pick<MissedText, 'column' | 'path'> | undefined {
  for (const path of paths)
    for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
      const column = path.slice(0, dot);
      if (!Object.hasOwn(record, column) || excluded.has(column)) continue;
      const value = readLater.has(column) ? openIfText(record[column]) : record[column];
      const text = findTextIn(value, path.slice(dot + 1), column, readWithPlace);
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
  readWithPlace: ReadonlySet<string>,
): string | undefined {
  const value = readWithPlace.has(at) ? openIfText(exported) : exported;
  if (typeof value === 'string')
    return MAY_BE_JSON.test(value) && leadsTo(openJsonText(value), path) ? at : undefined;
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = findTextIn(item, path, at, readWithPlace);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const fields = asFields(value);
  if (!fields) return undefined;
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(fields, name)) continue;
    const found = findTextIn(fields[name], path.slice(dot + 1), `${at}.${name}`, readWithPlace);
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
