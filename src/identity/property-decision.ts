import { MOMENT_LENGTH } from '../contract/identity-fact.ts';
import { parseIso } from '../sources/mapping/timestamp.ts';
import type { PropertyEntry } from './property-entry.ts';

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

/** Marks of rows that are sent, and of no other ones: see PropertyFilter. */
export const KIND = 7;
export const REPLACES = 1;
/** Set, and may only fill a gap: nothing is to be replaced, or a newer value may be live (raiseFloor, an open turn). */
export const FILLS = 2;
export const IS_ONCE = 3;
export const OF_GROUP = 4;
/** Beside another one: a value of another time was known, so that this may be a former value again. */
export const COMES_LATER = 8;

/** How a value is sent, and which one of a property is kept. */
export interface GivenValue {
  readonly keep: 'latest' | 'earliest';
  /** It is to replace a live value. */
  readonly replaces: boolean;
  /** It is sent with `$set_once`, which changes nothing where any value was sent before. */
  readonly isOnce: boolean;
}

/**
 * Whether a value is sent: not when the ledger knows a better one, which is a newer one of a property that is set,
 * and an earlier one of a property that is set once (I11). One of the same time is the same value, except that
 * it may have to replace what only filled a gap. `before`: what was known before a turn that may have sent nothing
 * entered `known`.
 */
export function decideProperty(
  known: PropertyEntry | undefined,
  timeMs: number,
  { keep, replaces, isOnce }: GivenValue,
  at: PropertyContext,
  before?: PropertyEntry,
): PropertyVerdict {
  if (!known) return 'send';
  const isOver = wasSentBefore(known, at);
  // The ledger keeps the time of the value that is live: one that replaces it has to be newer than that alone.
  if (isOnce && (isOver || wasSentBefore(before, at))) return 'known';
  if (timeMs === known.timeMs) return !isOver || (replaces && !known.replaced) ? 'send' : 'known';
  const isBetter = keep === 'latest' ? timeMs > known.timeMs : timeMs < known.timeMs;
  if (isBetter) return 'send';
  return isOver || known.sentAt === at.turn ? 'known' : 'fill';
}

/**
 * The same of a property of a group, of which values were sent in events of other names, too. A destination may act on one
 * name or on several: a newer value of another name may be live, and one of the same time is the same value, which
 * brought nothing where the destination does not act on that name.
 */
export const decideBeside = (
  verdict: PropertyVerdict,
  timeMs: number,
  others: readonly (PropertyEntry | undefined)[],
): PropertyVerdict =>
  verdict === 'send' && others.some((other) => other !== undefined && other.timeMs > timeMs)
    ? 'fill'
    : verdict;

/** By another turn, beyond doubt. */
const wasSentBefore = (entry: PropertyEntry | undefined, { turn, hasEnded }: PropertyContext): boolean =>
  entry !== undefined && entry.sentAt !== turn && hasEnded(entry.sentAt);

/**
 * Whether a value of another time is known. One of the same time is the same value, of a turn that is continued or
 * taken again, so it keeps what was found when it was entered.
 */
export const isLaterValue = (known: PropertyEntry | undefined, timeMs: number): boolean =>
  known !== undefined && (known.timeMs === timeMs ? known.isLater : true);

/** ISO 8601, or empty. */
export function toTimeMs(time: string): number {
  if (time === lastTime) return lastMs;
  const ms = time.length < MOMENT_LENGTH ? Date.parse(time) : parseIso(time);
  lastTime = time;
  lastMs = Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms;
  return lastMs;
}

/** The properties of a person mostly have one time. */
let lastTime = '';
let lastMs = Number.NEGATIVE_INFINITY;
