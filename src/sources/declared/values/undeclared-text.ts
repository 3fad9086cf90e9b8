import { asFields, type Fields } from '../../mapping/table.ts';
import { openJsonText } from '../json-cell.ts';
import type { DeclaredMapping } from '../options.ts';

/** What text of an object or list begins with, and such text that was written as text again. */
const MAY_BE_JSON = /^\s*["[{]/;

/**
 * The column in which a path leads into text of JSON that nothing in the manifest says to read, and finds a value there.
 * `isRead`: whether the text of a column is read later. A rule would miss what is in such text.
 */
export function findTextOnPath(
  record: Fields,
  path: string,
  isRead: (column: string) => boolean = () => false,
): string | undefined {
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const column = path.slice(0, dot);
    if (!Object.hasOwn(record, column)) continue;
    const value = record[column];
    if (typeof value === 'string' && isRead(column)) continue;
    if (hasText(value, path.slice(dot + 1))) return column;
  }
  return undefined;
}

/** Whether a path leads through text. */
function hasText(value: unknown, path: string): boolean {
  if (typeof value === 'string') return MAY_BE_JSON.test(value) && leadsTo(openJsonText(value), path);
  if (Array.isArray(value)) return value.some((item) => hasText(item, path));
  return someStep(value, path, hasText);
}

/** Whether it leads to a value, through text or not. */
function leadsTo(value: unknown, path: string): boolean {
  if (Array.isArray(value)) return value.some((item) => leadsTo(item, path));
  const fields = asFields(value);
  if (fields && Object.hasOwn(fields, path)) return true;
  return someStep(value, path, (inner, rest) => leadsTo(inner, rest) || hasText(inner, rest));
}

function someStep(value: unknown, path: string, holds: (inner: unknown, rest: string) => boolean): boolean {
  const fields = asFields(value);
  if (!fields) return false;
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (Object.hasOwn(fields, name) && holds(fields[name], path.slice(dot + 1))) return true;
  }
  return false;
}

/**
 * Finds the column, or the field of a spread one, in whose text a rule that keeps personal data back would miss some.
 * Undefined where no such rule leads into a value.
 */
export function createFindMissed(
  { spreadColumns, exclude, jsonColumns, unnest }: DeclaredMapping,
  hashed: readonly string[],
): { readonly ofHash: FindMissed; readonly ofExclude: FindMissed } | undefined {
  const isNested = (path: string) => path.includes('.');
  const excludes = exclude.filter(
    (path) => isNested(path) && !exclude.some((other) => path.startsWith(`${other}.`)),
  );
  const hashes = hashed.filter(isNested);
  if (excludes.length + hashes.length === 0) return undefined;
  const opened = new Set([...jsonColumns, ...(unnest ? [unnest.column] : [])]);
  const create =
    (paths: readonly string[], isRead: (column: string) => boolean): FindMissed =>
    (record) => {
      for (const path of paths) {
        const column = findTextOnPath(record, path, isRead);
        if (column !== undefined) return column;
        for (const spread of spreadColumns) {
          const held = record[spread];
          const fields = asFields(typeof held === 'string' ? openJsonText(held) : held);
          const field = fields && findTextOnPath(fields, path);
          if (field !== undefined) return `${spread}.${field}`;
        }
      }
      return undefined;
    };
  const isExcluded = (column: string) => exclude.includes(column);
  return {
    ofHash: create(hashes, isExcluded),
    ofExclude: create(excludes, (column) => isExcluded(column) || opened.has(column)),
  };
}

export type FindMissed = (record: Fields) => string | undefined;
