export interface RoundLimits {
  /** At most this many. */
  readonly rounds: number;
  /**
   * No round starts that is likely to end after this; the first one always runs.
   * @default no limit
   */
  readonly budgetMs?: number;
}

/** Runs all contestants once per round, so that a noisy minute affects each of them alike. */
export async function interleave<In, Out>(
  contestants: readonly In[],
  { rounds, budgetMs = Number.POSITIVE_INFINITY }: RoundLimits,
  run: (contestant: In) => Promise<Out>,
): Promise<Out[][]> {
  const results: Out[][] = contestants.map(() => []);
  const startedMs = performance.now();
  for (let round = 0; round < rounds; round += 1) {
    const spentMs = performance.now() - startedMs;
    if (round > 0 && spentMs + spentMs / round > budgetMs) break;
    for (const [index, contestant] of contestants.entries()) results[index]?.push(await run(contestant));
  }
  return results;
}
