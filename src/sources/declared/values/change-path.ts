import { asFields, type Fields } from '../../mapping/table.ts';

/** What becomes of a value. */
export type Change = (value: unknown) => unknown;

/** Of several values that a path leads to, by names that hold dots themselves: the first, as everything is read, or all. */
export type Reach = 'first' | 'all';

/**
 * The record with the value of a column, or at a path into objects and lists, changed; the record itself where it
 * has none. A name is taken literally first, as everywhere in a declared mapping. Changes nothing in place.
 */
export function changePath(record: Fields, path: string, change: Change, reach: Reach = 'first'): Fields {
  return changeIn(record, path, change, reach) as Fields;
}

function changeIn(value: unknown, path: string, change: Change, reach: Reach): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => changeIn(item, path, change, reach));
  let fields = asFields(value);
  if (!fields) return value;
  if (Object.hasOwn(fields, path)) {
    fields = { ...fields, [path]: change(fields[path]) };
    if (reach === 'first') return fields;
  }
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(fields, name)) continue;
    const inner = changeIn(fields[name], path.slice(dot + 1), change, reach);
    if (inner === fields[name]) continue;
    fields = { ...fields, [name]: inner };
    if (reach === 'first') return fields;
  }
  return fields;
}
