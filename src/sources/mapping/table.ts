import { isExactNumber } from '../../lib/json/exact-number.ts';
import { JsonToken } from '../../lib/json/json-token.ts';
import { type PropertyList, type PropertyName, pinName } from '../../lib/json/property-list.ts';
import { RecordView, type ScannedRecord } from '../../lib/json/record-view.ts';

/** Target property <- source field, or the first of several that holds a value. `a.b` is a path. */
export type Table = Readonly<Record<string, string | readonly string[]>>;

export type Fields = Readonly<Record<string, unknown>>;

/** The same, or where it is in the text of a record that is not parsed. */
export type FieldsOrText = Fields | JsonToken;

/** Copies what the table names from a record to properties; fields without a value leave no trace. */
export type ApplyTable = (properties: PropertyList, source: FieldsOrText) => void;

/** @param holds Whether a value, which may be still text, is one. */
export function compileTable(table: Table, holds: (value: unknown) => boolean = hasValue): ApplyTable {
  const rows = Object.entries(table).map(([target, from]) => ({
    target: pinName(target),
    columns: (typeof from === 'string' ? [from] : from).map(compilePath),
  }));
  const bind = createBind(rows);

  return (properties, source) => {
    if (source instanceof JsonToken) {
      const { members } = source;
      for (const { target, columns } of rows) {
        for (const column of columns) {
          if (setText(properties, target, members.find(column.name), column.rest, holds)) break;
        }
      }
    } else if (source instanceof RecordView) {
      const record = RecordView.getRecord(source);
      const { tokens } = record;
      const bound = bind(record);
      for (let row = 0; row < bound.length; row += 1) {
        const { target, columns } = bound[row] as BoundRow;
        for (let index = 0; index < columns.length; index += 1) {
          const { at, rest } = columns[index] as BoundColumn;
          const token = tokens[at] as JsonToken;
          if (token.isThere && setText(properties, target, token, rest, holds)) break;
        }
      }
    } else {
      for (const { target, columns } of rows) {
        for (const { read } of columns) {
          const value = read(source);
          if (!holds(value)) continue;
          properties.set(target, value);
          break;
        }
      }
    }
  };
}

/** Whether there was a value. */
function setText(
  properties: PropertyList,
  target: PropertyName,
  token: JsonToken | undefined,
  rest: readonly string[],
  holds: (value: unknown) => boolean,
): boolean {
  if (!token?.hasValue) return false;
  if (rest.length === 0) {
    if (holds !== hasValue && !holds(token)) return false;
    properties.set(target, token);
    return true;
  }
  const value = readPath(token.read(), rest);
  if (!holds(value)) return false;
  properties.set(target, value);
  return true;
}

interface BoundColumn {
  /** Its place among the tokens of a record. */
  readonly at: number;
  readonly rest: readonly string[];
}

interface BoundRow {
  readonly target: PropertyName;
  readonly columns: readonly BoundColumn[];
}

/**
 * Where the fields of a table are among those of a record: all records of a source have the same ones. Tokens
 * themselves would keep the bytes of a part from being freed.
 */
function createBind(rows: readonly { readonly target: PropertyName; readonly columns: readonly Column[] }[]) {
  let known: ReadonlySet<string> | undefined;
  let bound: readonly BoundRow[] = [];
  return ({ fields }: ScannedRecord): readonly BoundRow[] => {
    if (fields !== known) {
      const all = [...fields];
      known = fields;
      bound = rows.map(({ target, columns }) => ({
        target,
        columns: columns.flatMap(({ name, rest }) => {
          const at = all.indexOf(name.text);
          return at === -1 ? [] : [{ at, rest }];
        }),
      }));
    }
    return bound;
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

/** The same of a value that may be text. */
export const asFieldsOrText = (value: unknown): FieldsOrText | undefined =>
  value instanceof JsonToken ? value : asFields(value);

export const hasField = (source: FieldsOrText, name: PropertyName): boolean =>
  source instanceof JsonToken ? source.members.find(name) !== undefined : Object.hasOwn(source, name.text);

/** The value of a field, which may be one of an object that is still text. */
export const readNamed = (source: FieldsOrText, name: PropertyName): unknown =>
  source instanceof JsonToken ? source.members.find(name)?.read() : own(source, name.text);

/** Reads own fields only: a record with a field named `constructor` or `__proto__` is data, not code. */
export const own = (source: Fields, key: string): unknown =>
  Object.hasOwn(source, key) ? source[key] : undefined;

interface Column {
  /** The field, or the first one of a path. */
  readonly name: PropertyName;
  readonly rest: readonly string[];
  readonly read: (source: Fields) => unknown;
}

function compilePath(path: string): Column {
  const [first = path, ...rest] = path.split('.');
  return {
    name: pinName(first),
    rest,
    read: rest.length === 0 ? (source) => source[path] : (source) => readPath(source[first], rest),
  };
}

function readPath(start: unknown, keys: readonly string[]): unknown {
  let value = start;
  for (const key of keys) value = asFields(value)?.[key];
  return value;
}
