const WINDOW_MS = 30_000;

/**
 * Records a second over the last half minute, from looks at a count that grows. What was slow or waiting
 * before says nothing of the time that is left.
 */
export function createRecentRate(): (count: number, nowMs: number) => number {
  let looks: { readonly count: number; readonly atMs: number }[] = [];
  return (count, atMs) => {
    looks = [...looks.filter((look) => look.atMs >= atMs - WINDOW_MS), { count, atMs }];
    const first = looks[0];
    return first === undefined || first.atMs === atMs
      ? 0
      : ((count - first.count) * 1_000) / (atMs - first.atMs);
  };
}
