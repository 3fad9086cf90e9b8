import type { Throughput } from '../../state/progress-note.ts';

/** More would make the note large, and the columns of a chart narrower than a pixel. */
export const MAX_POINTS = 240;
const FIRST_STEP_MS = 10_000;

/**
 * Adds what was accepted since the last call to the interval of `atMs`. `events`: all of the migration so far. When
 * the intervals are too many, each two become one of twice the width, so that the history covers the whole
 * migration and stays small. A clock that went back counts for the newest interval.
 */
export function addThroughput(
  history: Throughput | undefined,
  { atMs, events }: { readonly atMs: number; readonly events: number },
): Throughput {
  if (history === undefined) {
    const fromMs = Math.floor(atMs / FIRST_STEP_MS) * FIRST_STEP_MS;
    return { fromMs, stepMs: FIRST_STEP_MS, events: [events], total: events };
  }
  const { fromMs } = history;
  let { stepMs, events: points } = history;
  while ((atMs - fromMs) / stepMs >= MAX_POINTS) {
    stepMs *= 2;
    points = joinPairs(points);
  }
  const index = Math.max(Math.floor((atMs - fromMs) / stepMs), points.length - 1, 0);
  const added = Math.max(0, events - history.total);
  const filled = Array.from({ length: index + 1 }, (_, at) => points[at] ?? 0);
  filled[index] = (filled[index] ?? 0) + added;
  return { fromMs, stepMs, events: filled, total: history.total + added };
}

const joinPairs = (points: readonly number[]): number[] =>
  Array.from({ length: Math.ceil(points.length / 2) }, (_, pair) =>
    points.slice(2 * pair, 2 * pair + 2).reduce((sum, point) => sum + point, 0),
  );
