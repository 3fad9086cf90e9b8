import { asFields, type Fields } from '../../mapping/table.ts';

/** What becomes of a value. */
export type Change = (value: unknown) => unknown;

/**
 * The record with the value of a column, or at a path into objects and lists, changed; the record itself where it
 * has none. A name is taken literally first, as everywhere in a declared mapping. Changes nothing in place.
 */
export function changePath(record: Fields, path: string, change: Change): Fields {
  return changeIn(record, path, change) as Fields;
}

function changeIn(value: unknown, path: string, change: Change): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => changeIn(item, path, change));
  const fields = asFields(value);
  if (!fields) return value;
  if (Object.hasOwn(fields, path)) return { ...fields, [path]: change(fields[path]) };
  for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
    const name = path.slice(0, dot);
    if (!Object.hasOwn(fields, name)) continue;
    const inner = changeIn(fields[name], path.slice(dot + 1), change);
    if (inner !== fields[name]) return { ...fields, [name]: inner };
  }
  return fields;
}
