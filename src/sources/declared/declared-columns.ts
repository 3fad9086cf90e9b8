import type { IdRules } from '../mapping/distinct-id.ts';
import { toOwnName } from '../mapping/properties.ts';
import { asFields, type Fields, hasValue, own } from '../mapping/table.ts';
import type { PropertyColumns } from './options.ts';

/** A column's value in a record; undefined when it holds none by the manifest's `nullValues`. */
export type ReadColumn = (record: Fields) => unknown;

/**
 * The first of the columns that holds a value. A name is taken literally first; `user.id` then
 * reaches into nested objects.
 */
export function createReadColumn(
  column: string | readonly string[],
  nullValues: ReadonlySet<string>,
): ReadColumn {
  const columns = (typeof column === 'string' ? [column] : column).map((name) => ({
    name,
    path: name.split('.'),
  }));
  return (record) => {
    for (const { name, path } of columns) {
      let value = own(record, name);
      if (value === undefined && path.length > 1) value = readPath(record, path);
      if (hasValue(value) && !isNull(value, nullValues)) return value;
    }
    return undefined;
  };
}

/** Like `createReadColumn`, for ids: columns whose id is junk are skipped as well. */
export function createReadIdColumn(
  column: string | readonly string[],
  { ids, nullValues }: { readonly ids: IdRules; readonly nullValues: ReadonlySet<string> },
): (record: Fields) => string | undefined {
  const readers = (typeof column === 'string' ? [column] : column).map((name) =>
    createReadColumn(name, nullValues),
  );
  return (record) => {
    for (const read of readers) {
      const id = ids.read(read(record));
      if (id !== undefined) return id;
    }
    return undefined;
  };
}

export const isNull = (value: unknown, nullValues: ReadonlySet<string>): boolean =>
  value === undefined || value === null || (typeof value === 'string' && nullValues.has(value));

/** The property that a column feeds, or undefined when the columns declared here do not include it. */
export type NameProperty = (column: string) => string | undefined;

/** A prefix does not take columns in `used`: with `user_`, the id in `user_id` is no property. */
export function createNameProperty(
  declared: PropertyColumns | undefined,
  used: ReadonlySet<string>,
): NameProperty {
  const columns = new Set(declared?.columns ?? []);
  const prefix = declared?.prefix;
  return (column) => {
    if (columns.has(column)) return toOwnName(column);
    if (prefix === undefined || used.has(column) || !column.startsWith(prefix)) return undefined;
    const name = column.slice(prefix.length);
    return name === '' ? undefined : toOwnName(name);
  };
}

function readPath(record: Fields, path: readonly string[]): unknown {
  let value: unknown = record;
  for (const key of path) {
    const fields = asFields(value);
    if (!fields) return undefined;
    value = own(fields, key);
  }
  return value;
}
