import { OF_EVENT, OF_WHOLE, type RowKind } from '../../state/fingerprints.ts';

/** A record by its part (number in the order of `add`) and its own number; and what it is counted under. */
export interface FoldedRecord {
  readonly source: number;
  readonly record: number;
  readonly day: string;
  /** Index of the event name in the tally of the part. */
  readonly name: number;
  /** Where the row is one event of a record of several: its key. */
  readonly eventKey: string | undefined;
}

/** Events of one key that are not a row of their own at the destination. */
export interface KeyEvents {
  readonly repeated: number;
  readonly colliding: number;
  /** Of the colliding ones 1 where nothing of these parts stays, because another sender has the row. */
  readonly elsewhere: 0 | 1;
}

/** Called for the records whose outcome is not what their part said. */
export interface FoldVisitor {
  /** Another record is equal, and stays. */
  readonly onDuplicate: (record: FoldedRecord) => void;
  /** Another record has the same key and other content, and stays; `isElsewhere`: that of another sender. */
  readonly onCollision: (record: FoldedRecord, isElsewhere: boolean) => void;
  /** The record that stays where others collide with it. */
  readonly onStays: (record: FoldedRecord) => void;
  /** Events of one key. */
  readonly onEvents: (events: KeyEvents) => void;
}

/** What is known of rows by their numbers, which are in the order of parts and records. */
export interface Rows {
  /** Those from this number on are of other senders. */
  readonly own: number;
  compareContents(a: number, b: number): number;
  getKind(row: number): RowKind;
  /** Of a row of another sender. */
  getSender(row: number): string | undefined;
  /** Whether that sender does not count it as delivered. */
  isRejected(row: number): boolean;
  toRecord(row: number): FoldedRecord;
}

/** Decides what stays of the rows of one key, which are sorted here: both walks over them follow the contents. */
export function decideKey(
  all: number[],
  rows: Rows,
  { onDuplicate, onCollision, onStays, onEvents }: FoldVisitor,
): void {
  // The row itself is what decides among equal ones.
  all.sort((a, b) => rows.compareContents(a, b) || a - b);
  const own = all.filter((row) => row < rows.own);
  const [first] = own;
  if (first === undefined) return;
  const ofOthers = listStaying(
    all.filter((row) => row >= rows.own),
    rows,
  );
  const staying = ofOthers.length > 0 ? ofOthers : [first];
  let nextStaying = 0;
  let colliding = 0;
  let repeated = 0;
  let isHere = false;
  let stays = true;
  /** Of the content that is looked at, a record was counted already. */
  let isCounted = false;
  for (const [index, row] of own.entries()) {
    const before = own[index - 1];
    if (before === undefined || rows.compareContents(before, row) !== 0) {
      stays = isStaying(row);
      if (!stays || isHere) colliding += 1;
      isHere ||= stays;
      isCounted = false;
    } else repeated += 1;
    if (rows.getKind(row) === OF_EVENT) {
      if (!stays) onCollision(rows.toRecord(row), ofOthers.length > 0);
    } else if (isCounted) onDuplicate(rows.toRecord(row));
    else {
      isCounted = true;
      if (!stays) onCollision(rows.toRecord(row), ofOthers.length > 0);
    }
  }
  if (rows.getKind(first) !== OF_WHOLE) onEvents({ repeated, colliding, elsewhere: isHere ? 0 : 1 });
  if (colliding === 0 && staying.length === 1) return;
  for (const row of staying) onStays(rows.toRecord(row));

  /** Asked for rows in the order of their contents. */
  function isStaying(row: number): boolean {
    for (; ; nextStaying += 1) {
      const one = staying[nextStaying];
      if (one === undefined) return false;
      const order = rows.compareContents(one, row);
      if (order >= 0) return order === 0;
    }
  }
}

/**
 * Of sorted rows of others, the first of each content that one of them counts as delivered. A sender rejects a content
 * as a whole; what one rejected may be what another one, that counted later, has.
 */
function listStaying(sorted: readonly number[], rows: Rows): number[] {
  const staying: number[] = [];
  let equal: number[] = [];
  for (const [index, row] of sorted.entries()) {
    equal.push(row);
    const next = sorted[index + 1];
    if (next !== undefined && rows.compareContents(row, next) === 0) continue;
    const rejecting = new Set(equal.filter((one) => rows.isRejected(one)).map(rows.getSender));
    const delivered = equal.find((one) => !rejecting.has(rows.getSender(one)));
    if (delivered !== undefined) staying.push(delivered);
    equal = [];
  }
  return staying;
}
