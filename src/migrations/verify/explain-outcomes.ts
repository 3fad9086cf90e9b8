import type { RecordCounts } from '../../contract/progress.ts';
import type { Explained } from './comparison.ts';

/** Outcomes that make a migration deliver fewer records than there are. */
const LOSSES = ['skipped', 'duplicate', 'rejected'] as const;
export type Loss = (typeof LOSSES)[number];

/** Every choice of outcomes that a vendor may count, fewest first. */
export const LOSS_CHOICES: readonly (readonly Loss[])[] = [
  [],
  ...LOSSES.map((loss) => [loss]),
  ['skipped', 'duplicate'],
  ['skipped', 'rejected'],
  ['duplicate', 'rejected'],
  [...LOSSES],
];

export const toCauses = (counts: RecordCounts | undefined, losses: readonly Loss[]): Explained[] =>
  losses.map((cause) => ({ cause, count: -(counts?.[cause] ?? 0) })).filter(({ count }) => count !== 0);

export const sumCauses = (causes: readonly Explained[]): number =>
  causes.reduce((sum, { count }) => sum + count, 0);

/**
 * The outcomes that come nearest to a difference; of those that come as near, the fewest. A vendor counts
 * some of what is skipped or repeated, and some not.
 */
export function explainOutcomes(difference: number, counts: RecordCounts | undefined): Explained[] {
  let best: Explained[] = [];
  for (const losses of LOSS_CHOICES) {
    const causes = toCauses(counts, losses);
    if (Math.abs(difference - sumCauses(causes)) < Math.abs(difference - sumCauses(best))) best = causes;
  }
  return best;
}
