import { isExactNumber } from '../../lib/json/exact-number.ts';
import { type PropertyList, pinName } from '../../lib/json/property-list.ts';

/** Target property <- source field, or the first of several that holds a value. `a.b` is a path. */
export type Table = Readonly<Record<string, string | readonly string[]>>;

export type Fields = Readonly<Record<string, unknown>>;

/** Copies what the table names from a record to properties; fields without a value leave no trace. */
export type ApplyTable = (properties: PropertyList, source: Fields) => void;

export function compileTable(table: Table): ApplyTable {
  const rows = Object.entries(table).map(([target, from]) => ({
    target: pinName(target),
    readers: (typeof from === 'string' ? [from] : from).map(compilePath),
  }));
  return (properties, source) => {
    for (const { target, readers } of rows) {
      for (const read of readers) {
        const value = read(source);
        if (!hasValue(value)) continue;
        properties.set(target, value);
        break;
      }
    }
  };
}

/** Names of the top-level record fields that a table reads. */
export function listFields(table: Table): string[] {
  return Object.values(table)
    .flat()
    .map((path) => path.split('.', 1)[0] ?? path);
}

/** Vendors write null or an empty text where they know nothing. */
export const hasValue = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

/** The value as an object with fields, or undefined for anything else. */
export function asFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value)
    ? (value as Fields)
    : undefined;
}

/** Reads own fields only: a record with a field named `constructor` or `__proto__` is data, not code. */
export const own = (source: Fields, key: string): unknown =>
  Object.hasOwn(source, key) ? source[key] : undefined;

function compilePath(path: string): (source: Fields) => unknown {
  const [first = path, ...rest] = path.split('.');
  if (rest.length === 0) return (source) => source[path];
  return (source) => {
    let value: unknown = source[first];
    for (const key of rest) value = asFields(value)?.[key];
    return value;
  };
}
