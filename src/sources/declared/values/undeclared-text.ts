import { asFields, type Fields } from '../../mapping/table.ts';
import { openJsonText } from '../json-cell.ts';
import type { DeclaredMapping } from '../options.ts';

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
  { spreadColumns, exclude, jsonColumns, unnest }: DeclaredMapping,
  hashed: readonly string[],
): { readonly ofHash: FindMissed; readonly ofExclude: FindMissed } | undefined {
  const hashes = hashed.filter(isNested);
  const excludes = exclude.filter(
    (path) => isNested(path) && !exclude.some((other) => path.startsWith(`${other}.`)),
  );
  if (excludes.length + hashes.length === 0) return undefined;
  const excluded = new Set(exclude);
  const create =
    (paths: readonly string[], readLater: ReadonlySet<string>): FindMissed =>
    (record) => {
      const found = findText(record, paths, excluded, readLater);
      if (found) {
        const spread = spreadColumns.find((name) => found.path.startsWith(`${name}.`));
        return { ...found, typedAs: spread ? found.path.slice(spread.length + 1) : found.path };
      }
      for (const column of spreadColumns) {
        const fields = asFields(openIfText(record[column]));
        const inner = fields && findText(fields, paths);
        if (inner) return { column, path: `${column}.${inner.path}`, typedAs: inner.path };
      }
      return undefined;
    };
  return {
    ofHash: create(hashes, NONE),
    ofExclude: create(excludes, new Set([...jsonColumns, ...(unnest ? [unnest.column] : [])])),
  };
}

const isNested = (path: string): boolean => path.includes('.');
const openIfText = (value: unknown): unknown => (typeof value === 'string' ? openJsonText(value) : value);

const NONE: ReadonlySet<string> = new Set();

/** Where one of the paths leads through text to a value. */
function findText(
  record: Fields,
  paths: readonly string[],
  excluded = NONE,
  readLater = NONE,
): Pick<MissedText, 'column' | 'path'> | undefined {
  for (const path of paths)
    for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
      const column = path.slice(0, dot);
      if (!Object.hasOwn(record, column) || excluded.has(column)) continue;
      const value = readLater.has(column) ? openIfText(record[column]) : record[column];
      const text = findTextIn(value, path.slice(dot + 1), column);
      if (text !== undefined) return { column, path: text };
    }
  return undefined;
}

/** What text of an object or list begins with, and such text that was written as text again. */
const MAY_BE_JSON = /^\s*["[{]/;

/** `at`: where the value is. */
function findTextIn(value: unknown, path: string, at: string): string | undefined {
  if (typeof value === 'string')
    return MAY_BE_JSON.test(value) && leadsTo(openJsonText(value), path) ? at : undefined;
  if (Array.isArray(value)) {
    for (const item of value) {
      const found = findTextIn(item, path, at);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const fields = asFields(value);
  if (!fields) return undefined;
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(fields, name)) continue;
    const found = findTextIn(fields[name], path.slice(dot + 1), `${at}.${name}`);
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
