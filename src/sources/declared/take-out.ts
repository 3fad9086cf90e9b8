import { asFields, type Fields, hasValue } from '../mapping/table.ts';
import { createReadColumn } from './declared-columns.ts';
import { isEmptyObject } from './name-rules.ts';

/**
 * Creates what takes objects that are spread out of those that they are within: each exactly where `createReadColumn`
 * finds it, so that nothing else is lost, such as a field of that path inside a list. A column of which nothing is left
 * is left out. Undefined where no path leads into an object.
 */
export function createTakeOut(
  spreadColumns: readonly string[],
  nullValues: ReadonlySet<string>,
): ((record: Fields) => Fields) | undefined {
  const nested = spreadColumns
    .filter((name) => name.includes('.'))
    .map((name) => ({ name, path: name.split('.'), read: createReadColumn(name, nullValues) }));
  if (nested.length === 0) return undefined;
  return (record) => {
    let rest = record;
    for (const { name, path, read } of nested) {
      // A column of that very name is what was read.
      if ((Object.hasOwn(record, name) && record[name] !== undefined) || !hasValue(read(record))) continue;
      rest = without(rest, path);
      const [column = ''] = path;
      const left = asFields(rest[column]);
      if (left && isEmptyObject(left)) rest = without(rest, [column]);
    }
    return rest;
  };
}

function without(fields: Fields, [name = '', ...below]: readonly string[]): Fields {
  if (!Object.hasOwn(fields, name)) return fields;
  const { [name]: value, ...others } = fields;
  if (below.length === 0) return others;
  const inner = asFields(value);
  return inner ? { ...fields, [name]: without(inner, below) } : fields;
}
