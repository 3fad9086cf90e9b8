const WINDOW_MS = 30_000;

/**
 * Records a second over the last half minute, from samples of a growing count. What was slow or waiting before
 * does not count towards the time that is left.
 */
export function createRecentRate(): (count: number, nowMs: number) => number {
  let samples: { readonly count: number; readonly atMs: number }[] = [];
  return (count, atMs) => {
    samples = [...samples.filter((sample) => sample.atMs >= atMs - WINDOW_MS), { count, atMs }];
    const first = samples[0];
    return first === undefined || first.atMs === atMs
      ? 0
      : ((count - first.count) * 1_000) / (atMs - first.atMs);
  };
}
