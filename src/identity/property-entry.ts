import { HASH_BYTES, toBeforeHash } from '../state/ledger/keyed-hash.ts';
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

const REPLACED = 1;
const IS_LATER = 2;
const IS_HELD_BACK = 4;

export function readPropertyEntry(table: RecordTable, property: Uint8Array): PropertyEntry | undefined {
  const offset = table.find(property);
  if (offset === -1 || table.bytes.readUInt32BE(offset + TURN) === 0) return undefined;
  const flags = table.bytes[offset + FLAGS] ?? 0;
  return {
    timeMs: table.bytes.readDoubleBE(offset + TIME),
    sentAt: table.bytes.readUInt32BE(offset + TURN),
    replaced: (flags & REPLACED) !== 0,
    isLater: (flags & IS_LATER) !== 0,
    isHeldBack: (flags & IS_HELD_BACK) !== 0,
  };
}

/** Enters what a turn is about to send, and keeps what an earlier one entered: see `withdrawProperty`. */
export function enterProperty(
  table: RecordTable,
  property: Uint8Array,
  entry: PropertyEntry,
  known: PropertyEntry | undefined,
): void {
  if (known && known.sentAt !== entry.sentAt) {
    const before = toBeforeHash(property);
    writePropertyEntry(table, before, known, readPropertyEntry(table, before));
  }
  writePropertyEntry(table, property, entry, known);
}

/** Takes back what a turn entered and did not bring to the destination: what was known before is known again. */
export function withdrawProperty(table: RecordTable, property: Uint8Array, turn: number): void {
  const known = readPropertyEntry(table, property);
  if (known?.sentAt !== turn) return;
  const before = readPropertyEntry(table, toBeforeHash(property));
  writePropertyEntry(table, property, before ?? NOTHING_SENT, known);
}

const NOTHING_SENT: PropertyEntry = {
  timeMs: Number.NEGATIVE_INFINITY,
  sentAt: 0,
  replaced: false,
  isLater: false,
  isHeldBack: false,
};

/** `known`: what was read under the same property. */
export function writePropertyEntry(
  table: RecordTable,
  property: Uint8Array,
  { timeMs, sentAt, replaced, isLater, isHeldBack }: PropertyEntry,
  known: PropertyEntry | undefined,
): void {
  if (
    known?.timeMs === timeMs &&
    known.sentAt === sentAt &&
    known.replaced === replaced &&
    known.isLater === isLater &&
    known.isHeldBack === isHeldBack
  )
    return;
  const offset = table.insert(property);
  table.bytes.writeDoubleBE(timeMs, offset + TIME);
  table.bytes.writeUInt32BE(sentAt, offset + TURN);
  table.bytes[offset + FLAGS] =
    (replaced ? REPLACED : 0) | (isLater ? IS_LATER : 0) | (isHeldBack ? IS_HELD_BACK : 0);
  table.changed = true;
}
