import { toMoment } from '../contract/identity-fact.ts';
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
