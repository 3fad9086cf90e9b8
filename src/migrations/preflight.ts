import type { Manifest } from '../../config/manifest/manifest.ts';
import type { SourceSlice } from '../sources/source.ts';
import { checkLimits } from './plan/check-limits.ts';
import { makePlan } from './plan/make-plan.ts';

const RECORDS_PER_FILE = 500;

/** Proof that preflight let a migration through: none is run without. */
export interface Allowed {
  /** The same check once more is staged: an estimate from a sample may have been too low. Throws PreflightError. */
  assertVolume(records: number): void;
}

/**
 * Throws PreflightError where the contract asks for an approval, before anything is sent. Limits and approval
 * may change from one epoch to the next, so every run and resume passes here.
 */
export async function preflight(
  { now }: { readonly now: () => Date },
  manifest: Manifest,
  files: readonly SourceSlice[],
): Promise<Allowed> {
  const plan = manifest.destination && (await makePlan(manifest, files, now(), RECORDS_PER_FILE));
  if (plan) checkLimits(plan, plan.limits, plan.approval);
  return {
    assertVolume(records) {
      if (plan && records > plan.events.count)
        checkLimits({ ...plan, events: { count: records, exact: false } }, plan.limits, plan.approval);
    },
  };
}
