import { HASH_BYTES, HashWords } from '../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';

/** What a ledger knows of one property of a person or group. */
export interface PropertyEntry {
  /** Source time of the value that was sent, ms since 1970. */
  readonly timeMs: number;
  /** The turn in which it was sent. */
  readonly sentAt: number;
  /** Whether it was sent so that it replaced a live value. */
  readonly replaced: boolean;
  /** Whether a value of another time was known before it. */
  readonly isLater: boolean;
  /** Whether it was to replace a live value, and only filled a gap, as a newer one might have been live. */
  readonly isHeldBack: boolean;
}

/** A record: hash of the property, time, turn, flags. Turn 0: nothing was sent. */
export const PROPERTY_WIDTH = HASH_BYTES + 8 + 4 + 1;
const TIME = HASH_BYTES;
const TURN = TIME + 8;
const FLAGS = TURN + 4;

export const REPLACED = 1;
export const IS_LATER = 2;
export const IS_HELD_BACK = 4;

/** One that is read from a table, and then another one: persons have too many for an object each. */
export class StoredEntry implements PropertyEntry {
  timeMs = 0;
  sentAt = 0;
  flags = 0;

  get replaced(): boolean {
    return (this.flags & REPLACED) !== 0;
  }

  get isLater(): boolean {
    return (this.flags & IS_LATER) !== 0;
  }

  get isHeldBack(): boolean {
    return (this.flags & IS_HELD_BACK) !== 0;
  }

  /** What the table found by `seek`; undefined where nothing was sent. */
  read(table: RecordTable, found: number): this | undefined {
    if (found < 0) return undefined;
    const { view } = table;
    this.sentAt = view.getUint32(found + TURN);
    if (this.sentAt === 0) return undefined;
    this.timeMs = view.getFloat64(found + TIME);
    this.flags = view.getUint8(found + FLAGS) & (REPLACED | IS_LATER | IS_HELD_BACK);
    return this;
  }

  set(timeMs: number, sentAt: number, flags: number): this {
    this.timeMs = timeMs;
    this.sentAt = sentAt;
    this.flags = flags;
    return this;
  }
}

export const readPropertyEntry = (table: RecordTable, property: HashWords): StoredEntry | undefined =>
  new StoredEntry().read(table, table.seek(property));

const before = new HashWords();
const beforeEntry = new StoredEntry();

/** What was known before the entry of a property was entered. Valid until the next call. */
export const readEntryBefore = (table: RecordTable, property: HashWords): StoredEntry | undefined =>
  beforeEntry.read(table, table.seek(before.setBefore(property)));

/**
 * Enters what a turn is about to send, and keeps what an earlier one entered: see `withdrawProperty`. `known`: what was
 * read under the same property, which the table `found`.
 */
export function enterProperty(
  table: RecordTable,
  property: HashWords,
  found: number,
  entry: StoredEntry,
  known: StoredEntry | undefined,
): void {
  let at = found;
  if (known && known.sentAt !== entry.sentAt) {
    before.setBefore(property);
    const place = table.seek(before);
    writeEntry(table, before, place, known, beforeEntry.read(table, place));
    at = table.seek(property);
  }
  writeEntry(table, property, at, entry, known);
}

/** Takes back what a turn entered and did not bring to the destination: what was known before is known again. */
export function withdrawProperty(table: RecordTable, property: Uint8Array, turn: number): void {
  const words = new HashWords().read(property, 0);
  const known = readPropertyEntry(table, words);
  if (known?.sentAt !== turn) return;
  const before = readEntryBefore(table, words);
  writeEntry(table, words, table.seek(words), before ?? NOTHING_SENT, known);
}

const NOTHING_SENT = new StoredEntry().set(Number.NEGATIVE_INFINITY, 0, 0);

/** `known`: what was read under the same property, which the table `found`. */
export function writeEntry(
  table: RecordTable,
  property: HashWords,
  found: number,
  { timeMs, sentAt, flags }: StoredEntry,
  known: StoredEntry | undefined,
): void {
  if (known?.timeMs === timeMs && known.sentAt === sentAt && known.flags === flags) return;
  const offset = table.put(property, found);
  const { view } = table;
  view.setFloat64(offset + TIME, timeMs);
  view.setUint32(offset + TURN, sentAt);
  view.setUint8(offset + FLAGS, flags);
  table.changed = true;
}
