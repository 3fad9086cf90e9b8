/** The median of several rounds, and their range. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function computeSpread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const [low] = sorted;
  const high = sorted.at(-1);
  if (low === undefined || high === undefined) throw new RangeError('a spread needs at least one value');
  const upper = sorted[Math.floor(sorted.length / 2)] ?? high;
  const lower = sorted[Math.floor((sorted.length - 1) / 2)] ?? low;
  return { median: (lower + upper) / 2, low, high };
}

/** The median of the ratios within each round: what slows a whole round cancels out. */
export function computeRatio(values: readonly number[], references: readonly number[]): Spread {
  return computeSpread(values.map((value, round) => value / (references[round] ?? Number.NaN)));
}
