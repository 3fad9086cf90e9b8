import { HASH_BYTES } from '../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';

/** What a ledger knows of one property of a person or group. */
export interface PropertyEntry {
  /** Source time of the value that was sent, ms since 1970. */
  readonly timeMs: number;
  /** The turn in which it was sent. */
  readonly sentAt: number;
  /** Whether it was sent so that it replaced a live value. */
  readonly replaced: boolean;
}

export interface PropertyContext {
  readonly turn: number;
  readonly hasEnded: (turn: number) => boolean;
}

/**
 * Whether a value is sent: not when the ledger knows a better one, which is a newer one of a property that is set,
 * and an earlier one of a property that is set once (I11). One of the same time is the same value, except that
 * it may have to replace what only filled a gap.
 */
export function decideProperty(
  known: PropertyEntry | undefined,
  { timeMs, keep, replaces }: { timeMs: number; keep: 'latest' | 'earliest'; replaces: boolean },
  { turn, hasEnded }: PropertyContext,
): boolean {
  if (!known) return true;
  if (timeMs !== known.timeMs) return keep === 'latest' ? timeMs > known.timeMs : timeMs < known.timeMs;
  return known.sentAt === turn || !hasEnded(known.sentAt) || (replaces && !known.replaced);
}

/** ISO 8601, or empty. */
export function toTimeMs(time: string): number {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
}

/** A record: hash of the property, time, turn, flags. */
export const PROPERTY_WIDTH = HASH_BYTES + 8 + 4 + 1;
const TIME = HASH_BYTES;
const TURN = TIME + 8;
const FLAGS = TURN + 4;

export function readPropertyEntry(table: RecordTable, property: Buffer): PropertyEntry | undefined {
  const offset = table.find(property);
  if (offset === -1) return undefined;
  return {
    timeMs: table.bytes.readDoubleBE(offset + TIME),
    sentAt: table.bytes.readUInt32BE(offset + TURN),
    replaced: table.bytes[offset + FLAGS] === 1,
  };
}

export function writePropertyEntry(
  table: RecordTable,
  property: Buffer,
  { timeMs, sentAt, replaced }: PropertyEntry,
): void {
  const known = readPropertyEntry(table, property);
  if (known?.timeMs === timeMs && known.sentAt === sentAt && known.replaced === replaced) return;
  const offset = table.insert(property);
  table.bytes.writeDoubleBE(timeMs, offset + TIME);
  table.bytes.writeUInt32BE(sentAt, offset + TURN);
  table.bytes[offset + FLAGS] = replaced ? 1 : 0;
  table.changed = true;
}
