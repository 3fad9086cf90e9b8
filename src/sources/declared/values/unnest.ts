import { type Rejected, rejected, type Skipped, skipped } from '../../../contract/outcome.ts';
import { shown } from '../../../lib/preview.ts';
import type { Fields } from '../../mapping/table.ts';
import { createReadColumn } from '../declared-columns.ts';
import { NOT_JSON, parseJsonCell } from '../json-cell.ts';
import { changePath } from './change-path.ts';
import type { PreparedRecord } from './prepare-record.ts';

/** More items than this would not fit into one request. */
const MAX_ITEMS = 1_000;

/** A record for each item of a list, which takes the place of the list. */
export type Unnest = (prepared: PreparedRecord) => PreparedRecord[] | Rejected | Skipped;

export function createUnnest(column: string, nullValues: ReadonlySet<string>): Unnest {
  const read = createReadColumn(column, nullValues);
  return ({ record, hashed, ids }) => {
    const value = read(record);
    if (value === undefined) return skipped('no_items');
    const list = toList(value);
    if (!list) return rejected('bad_field', `${column} is ${shown(value)}; a list was expected`);
    if (list.length === 0) return skipped('no_items');
    if (list.length > MAX_ITEMS) {
      return rejected(
        'bad_field',
        `${column} has ${list.length} items; at most ${MAX_ITEMS} become events of one record`,
      );
    }
    const missing = list.findIndex((item) => item === null || item === undefined);
    if (missing !== -1) return rejected('bad_field', `${column}[${missing}] is null; an item was expected`);
    const hashedItems = toList(read(hashed)) ?? list;
    const idItems = ids === record ? list : (toList(read(ids)) ?? list);
    return list.map((item, index) => {
      const row = put(record, column, item);
      return {
        record: row,
        hashed: put(hashed, column, hashedItems[index]),
        ids: ids === record ? row : put(ids, column, idItems[index]),
      };
    });
  };
}

const put = (record: Fields, column: string, item: unknown): Fields => changePath(record, column, () => item);

function toList(value: unknown): readonly unknown[] | undefined {
  const read = typeof value === 'string' ? parseJsonCell(value) : value;
  return read !== NOT_JSON && Array.isArray(read) ? read : undefined;
}
