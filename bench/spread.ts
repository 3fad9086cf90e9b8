/** The middle of several rounds, and how far they lay apart. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function computeSpread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [low] = sorted;
  const high = sorted.at(-1);
  if (low === undefined || high === undefined) throw new RangeError('a spread needs one value at least');
  const upper = sorted[Math.floor(sorted.length / 2)] ?? high;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? low;
  return { median: (lower + upper) / 2, low, high };
}

/** Ratios within a round first, the median of them after: what slows a whole round then cancels out. */
export function computeRatio(values: readonly number[], references: readonly number[]): Spread {
  return computeSpread(values.map((value, round) => value / (references[round] ?? Number.NaN)));
}
