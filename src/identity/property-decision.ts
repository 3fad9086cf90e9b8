import { toMoment } from '../contract/identity-fact.ts';
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

export interface PropertyContext {
  readonly turn: number;
  readonly hasEnded: (turn: number) => boolean;
}

/**
 * `send`: nothing better is known.
 * `fill`: a better value was entered in a turn that has not ended, so it may have been sent or not, and never
 * will be where that migration was cancelled. This one may fill a gap, and must not replace anything.
 * `known`: a value that is as good was sent.
 */
export type PropertyVerdict = 'send' | 'fill' | 'known';

/**
 * Whether a value is sent: not when the ledger knows a better one, which is a newer one of a property that is set,
 * and an earlier one of a property that is set once (I11). One of the same time is the same value, except that
 * it may have to replace what only filled a gap.
 */
export function decideProperty(
  known: PropertyEntry | undefined,
  { timeMs, keep, replaces }: { timeMs: number; keep: 'latest' | 'earliest'; replaces: boolean },
  { turn, hasEnded }: PropertyContext,
): PropertyVerdict {
  if (!known) return 'send';
  const isOver = known.sentAt !== turn && hasEnded(known.sentAt);
  if (timeMs === known.timeMs) return !isOver || (replaces && !known.replaced) ? 'send' : 'known';
  const isBetter = keep === 'latest' ? timeMs > known.timeMs : timeMs < known.timeMs;
  if (isBetter) return 'send';
  return isOver || known.sentAt === turn ? 'known' : 'fill';
}

/**
 * Whether a value of another time is known. One of the same time is the same value, of a turn that is continued or
 * taken again, so it keeps what was found when it was entered.
 */
export const isLaterValue = (known: PropertyEntry | undefined, timeMs: number): boolean =>
  known !== undefined && (known.timeMs === timeMs ? known.isLater : true);

/** ISO 8601, or empty. */
export function toTimeMs(time: string): number {
  if (time === lastTime) return lastMs;
  const ms = Date.parse(toMoment(time));
  lastTime = time;
  lastMs = Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
  return lastMs;
}

/** The properties of a person mostly have one time. */
let lastTime = '';
let lastMs = Number.NEGATIVE_INFINITY;

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
