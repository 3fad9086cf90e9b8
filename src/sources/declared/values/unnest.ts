import { type Rejected, rejected } from '../../../contract/outcome.ts';
import { shown } from '../../../lib/preview.ts';
import type { Fields } from '../../mapping/table.ts';
import { createReadColumn } from '../declared-columns.ts';
import { NOT_JSON, parseJsonCell } from '../json-cell.ts';
import { changePath } from './change-path.ts';
import type { PreparedRecord } from './prepare-record.ts';

/** Most events of one record: a checkpoint stands between records, so all of them are sent again after a crash. */
const MAX_ITEMS = 1_000;

/** What becomes of a record whose list is unnested. */
interface Unnested {
  /** A record for each item of the list, which takes the place of the list. */
  readonly rows: readonly PreparedRecord[];
  /** The record without the list. */
  readonly takeBare: () => PreparedRecord;
  /** Undefined where the rows are all that the list holds. */
  readonly bad?: Rejected | undefined;
}

export type Unnest = (prepared: PreparedRecord) => Unnested;

export function createUnnest(column: string, nullValues: ReadonlySet<string>): Unnest {
  const read = createReadColumn(column, nullValues);
  return (prepared) => {
    const { record, hashed, ids } = prepared;
    const value = read(record);
    const list = value === undefined ? [] : toList(value);
    const hashedItems = toList(read(hashed)) ?? list ?? [];
    const idItems = ids === record ? list : (toList(read(ids)) ?? list);
    const toRow = (item: unknown, index: number): PreparedRecord => {
      const row = put(record, column, item);
      return {
        record: row,
        hashed: put(hashed, column, hashedItems[index]),
        ids: ids === record ? row : put(ids, column, idItems?.[index]),
      };
    };
    return {
      rows: (list ?? []).map(toRow),
      takeBare: () => toRow(undefined, hashedItems.length),
      bad: list ? findBadList(list, column) : rejectNoList(column, value),
    };
  };
}

const rejectNoList = (column: string, value: unknown) =>
  rejected('bad_field', `${column} is ${shown(value)}; a list was expected`);

function findBadList(list: readonly unknown[], column: string): Rejected | undefined {
  if (list.length > MAX_ITEMS) {
    return rejected(
      'bad_field',
      `${column} has ${list.length} items; at most ${MAX_ITEMS} become events of one record`,
    );
  }
  const missing = list.findIndex((item) => item === null || item === undefined);
  return missing === -1
    ? undefined
    : rejected('bad_field', `${column}[${missing}] is null; an item was expected`);
}

const put = (record: Fields, column: string, item: unknown): Fields => changePath(record, column, () => item);

function toList(value: unknown): readonly unknown[] | undefined {
  const read = typeof value === 'string' ? parseJsonCell(value) : value;
  return read !== NOT_JSON && Array.isArray(read) ? read : undefined;
}
