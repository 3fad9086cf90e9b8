import { type Rejected, rejected } from '../../../contract/outcome.ts';
import { RECORD_MAX_BYTES } from '../../../contract/part.ts';
import { canonicalJson } from '../../../lib/json/canonical-json.ts';
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
  /** How many items the list has. */
  readonly count: number;
  /** The record of one item, which takes the place of the list; made when it is asked for, as there may be many. */
  readonly takeRow: (index: number) => PreparedRecord;
  /** What ids are read from, of each item and of the record without the list. */
  readonly listIds: () => Iterable<Pick<PreparedRecord, 'ids'>>;
  /** The record without the list. */
  readonly takeBare: () => PreparedRecord;
  /** Undefined where all of the rows can be made. */
  readonly bad?: Rejected | undefined;
}

export type Unnest = (prepared: PreparedRecord) => Unnested;

/** `idColumns`: those that ids are read from. */
export function createUnnest(
  column: string,
  nullValues: ReadonlySet<string>,
  idColumns: readonly string[],
): Unnest {
  const read = createReadColumn(column, nullValues);
  const idFields = [...idColumns, column].flatMap(listPrefixes);
  const hasIdsInItems = idColumns.some(
    (id) => `${id}.`.startsWith(`${column}.`) || column.startsWith(`${id}.`),
  );
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
        hashed: hashed === record ? row : put(hashed, column, hashedItems[index]),
        ids: ids === record ? row : put(ids, column, idItems?.[index]),
      };
    };
    const takeBare = () => toRow(undefined, hashedItems.length);
    return {
      count: list?.length ?? 0,
      takeRow: (index) => toRow(list?.[index], index),
      *listIds() {
        // Without the other fields, as the list may have a million items.
        const few = Object.fromEntries(
          idFields.flatMap((name) => (Object.hasOwn(ids, name) ? [[name, ids[name]]] : [])),
        );
        for (const item of (hasIdsInItems && idItems) || []) yield { ids: put(few, column, item) };
        yield { ids: put(few, column, undefined) };
      },
      takeBare,
      bad: list
        ? (findBadList(list, column) ?? findTooMuch(list, takeBare(), column))
        : rejectNoList(column, value),
    };
  };
}

/** A name is taken literally first, and may hold dots itself. */
const listPrefixes = (path: string): string[] =>
  path.split('.').map((_, index, names) => names.slice(0, index + 1).join('.'));

/** Each event carries all other fields of its record: more of them than this are more than a record may send. */
const MOST_FIELDS = 2_800_000;
/** Of the ids of events, which are made of all that is in the record. */
const MOST_CHARACTERS = 256 * 1024 * 1024;
/** So few items are never too much. */
const FEW_ITEMS = Math.floor(MOST_CHARACTERS / RECORD_MAX_BYTES);

function findTooMuch(
  list: readonly unknown[],
  { hashed }: PreparedRecord,
  column: string,
): Rejected | undefined {
  if (list.length <= FEW_ITEMS) return undefined;
  const fields = Object.keys(hashed).length;
  const isTooMuch =
    fields * list.length > MOST_FIELDS || canonicalJson(hashed).length * list.length > MOST_CHARACTERS;
  return isTooMuch
    ? rejected(
        'record_too_large',
        `${column} has ${list.length} items, and each event would carry the other ${fields} fields of the record, which are too large for that; export the items in records of their own`,
      )
    : undefined;
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
