/** What was read and delivered from a moment on. */
export interface Sample {
  readonly atMs: number;
  readonly read: number;
  readonly delivered: number;
}

/** What limits the events of a run. */
export interface Budget {
  readonly eventsPerMinute: number;
  /** That a worker sends at once, in batches: at a small budget they take minutes, and are seen together. */
  readonly eventsInFlight: number;
}

/** The window of the budget (I6). */
export const WINDOW_MS = 60_000;
/** The speed is that of so long. */
export const AVERAGE_MS = 300_000;
/** Of the longest time in which nothing was seen: nothing may be seen for so long again, and all is well. */
const PATIENCE = 1.5;
/** Parts that are imported at once are not at the same point of their heaps: after so many, all of them were seen. */
const HEAPS = 4;

/**
 * How long a run still takes, in ms; undefined where it stands still.
 *
 * Permits of a budget are given out evenly, but what is seen comes in heaps: batches that are sent in several requests
 * wait for permits together, and end together. So between heaps events are taken to go on at the speed that the run
 * has over minutes, and never faster than the budget.
 *
 * @param samples ascending, each with a change, at least as far back as AVERAGE_MS
 * @param left events where there is a budget, else records
 */
export function estimateMsLeft(
  samples: readonly Sample[],
  left: number,
  budget: Budget | undefined,
  nowMs: number,
): number | undefined {
  const [first, second] = samples;
  const last = samples.at(-1);
  if (first === undefined || second === undefined || last === undefined) return undefined;
  if (left === 0) return 0;
  const count = ({ read, delivered }: Sample) => (budget === undefined ? read : delivered);
  const toPoint = (sample: Sample): Point => ({ sent: count(sample), atMs: sample.atMs });
  const cap = budget === undefined ? Number.POSITIVE_INFINITY : budget.eventsPerMinute / WINDOW_MS;
  const heapMs = budget === undefined ? 0 : budget.eventsInFlight / cap;

  const gapMs = PATIENCE * Math.max(heapMs, findLongestGapMs(samples));
  const quietMs = nowMs - last.atMs;
  if (quietMs > gapMs + WINDOW_MS) return undefined;
  // A run may wait before its first events, so these count as sent at the speed of the budget.
  const beginMs = Math.max(first.atMs, second.atMs - (count(second) - count(first)) / cap);
  const reachMs = HEAPS * heapMs;
  const spanMs = nowMs - beginMs;
  // A history that does not reach back to the begin may start in the middle of a heap.
  const isWhole = count(first) === 0;
  const early = samples.filter(({ atMs }) => atMs <= first.atMs + Math.min(reachMs, spanMs / 3));
  const start = isWhole ? { sent: 0, atMs: beginMs } : findFurthest(early.map(toPoint), cap);
  // Of a heap that is just coming in, not all is seen: one before it was whole.
  const recentMs = Math.max(gapMs, Math.min(reachMs, (2 * spanMs) / 3));
  const later = samples.slice(1).filter(({ atMs }) => atMs >= nowMs - recentMs && atMs > start.atMs);
  const recent = (later.length === 0 ? [last] : later).map(toPoint);
  const speeds = recent.map(({ sent, atMs }) => (sent - start.sent) / Math.max(1, atMs - start.atMs));
  const speed = Math.min(cap, Math.max(...speeds));
  if (speed === 0) return undefined;
  const total = count(last) + left;
  const endMs = Math.min(...recent.map(({ atMs, sent }) => atMs + (total - sent) / speed));
  return Math.max(0, endMs - nowMs + Math.max(0, quietMs - gapMs));
}

interface Point {
  readonly sent: number;
  readonly atMs: number;
}

/** The one that is furthest ahead of a run at the speed of the budget: all that was sent until then is seen. */
const findFurthest = (points: readonly Point[], cap: number): Point =>
  points.reduce((best, one) => (one.sent - best.sent > cap * (one.atMs - best.atMs) ? one : best));

function findLongestGapMs(samples: readonly Sample[]): number {
  const gaps = samples.slice(2).map(({ atMs }, index) => atMs - (samples[index + 1]?.atMs ?? atMs));
  return Math.max(WINDOW_MS / 3, ...gaps);
}
