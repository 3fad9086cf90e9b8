/** What was read and delivered from a moment on. */
export interface Sample {
  readonly atMs: number;
  readonly read: number;
  readonly delivered: number;
}

/** The window of the budget (I6). */
export const WINDOW_MS = 60_000;
/** The speed is that of so long. */
export const AVERAGE_MS = 300_000;
/** Of the longest time in which nothing was seen: nothing may be seen for so long again, and all is well. */
const PATIENCE = 1.5;

/**
 * How long a run still takes, in ms; undefined where it stands still.
 *
 * Permits of a budget are given out evenly, but what is seen comes in heaps: batches that are sent in several requests
 * wait for permits together, and end together. So between heaps events are taken to go on at the speed that the run
 * has over minutes, and never faster than the budget.
 *
 * @param samples ascending, each with a change, at least as far back as AVERAGE_MS
 * @param left events where `eventsPerMinute` is given, else records
 */
export function estimateMsLeft(
  samples: readonly Sample[],
  left: number,
  eventsPerMinute: number | undefined,
  nowMs: number,
): number | undefined {
  const [first, second] = samples;
  const last = samples.at(-1);
  if (first === undefined || second === undefined || last === undefined) return undefined;
  if (left === 0) return 0;
  const count = ({ read, delivered }: Sample) => (eventsPerMinute === undefined ? read : delivered);
  const cap = eventsPerMinute === undefined ? Number.POSITIVE_INFINITY : eventsPerMinute / WINDOW_MS;

  const gapMs = PATIENCE * findLongestGapMs(samples);
  const quietMs = nowMs - last.atMs;
  if (quietMs > gapMs + WINDOW_MS) return undefined;
  const recent = [last, ...samples.slice(1).filter(({ atMs }) => atMs >= nowMs - gapMs)];

  // A run may wait before its first events, so these count as sent at the speed of the budget.
  const beginMs = Math.max(first.atMs, second.atMs - (count(second) - count(first)) / cap);
  // Of a heap that is just coming in, not all is seen: the one before it was whole.
  const speeds = recent.map((sample) => (count(sample) - count(first)) / Math.max(1, sample.atMs - beginMs));
  const speed = Math.min(cap, Math.max(...speeds));
  if (speed === 0) return undefined;
  const total = count(last) + left;
  const endMs = Math.min(...recent.map((sample) => sample.atMs + (total - count(sample)) / speed));
  return Math.max(0, endMs - nowMs + Math.max(0, quietMs - gapMs));
}

function findLongestGapMs(samples: readonly Sample[]): number {
  const gaps = samples.slice(2).map(({ atMs }, index) => atMs - (samples[index + 1]?.atMs ?? atMs));
  return Math.max(WINDOW_MS / 3, ...gaps);
}
