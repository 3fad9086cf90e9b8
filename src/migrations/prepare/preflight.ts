import type { CONTRACT_LIMITS, Manifest } from '../../../config/manifest/manifest.ts';
import type { SourceSlice } from '../../sources/source.ts';
import { checkLimits, getAllowedVolume } from '../plan/check-limits.ts';
import { makePlan } from '../plan/make-plan.ts';

const RECORDS_PER_FILE = 500;
/** An estimate is at most so far off: what it puts above the limit by more than that is above it. */
const ESTIMATE_MARGIN = 1.1;

/** Proof that preflight let a migration through: none is run without. */
export interface Allowed {
  /** Undefined where the destination takes any volume. */
  readonly volume: VolumeRule | undefined;
}

/** How the number of events is judged once the records are staged. */
export interface VolumeRule {
  /** The estimate reaches half of what is allowed: every event is counted before the first one is sent. */
  readonly countFirst: boolean;
  /** Half of what is allowed. So many staged records prove an estimate below it wrong. */
  readonly half: number;
  /** Throws PreflightError for more events than are allowed. `sent`: those that were sent before. */
  assertEvents(events: number, sent: number): void;
}

export interface PreflightContext {
  readonly now: () => Date;
  readonly importRules?: ImportRules;
}

/** See CONTRACT_LIMITS. */
export type ImportRules = { readonly [name in keyof typeof CONTRACT_LIMITS]: number };

/**
 * Throws PreflightError where the contract asks for an approval, before anything is sent. Limits and approval
 * may change from one epoch to the next, so every run and resume passes here.
 */
export async function preflight(
  { now, importRules }: PreflightContext,
  manifest: Manifest,
  files: readonly SourceSlice[],
): Promise<Allowed> {
  const plan =
    manifest.destination && (await makePlan(manifest, files, now(), { recordsPerFile: RECORDS_PER_FILE }));
  if (!plan) return { volume: undefined };
  const { limits, approval } = plan;
  checkLimits(plan, limits, approval, { rules: importRules, margin: ESTIMATE_MARGIN });
  const half = getAllowedVolume(approval, importRules) / 2;
  return {
    volume: {
      countFirst: plan.events.count >= half,
      half,
      assertEvents: (count, sent) =>
        checkLimits({ ...plan, events: { count, exact: true } }, limits, approval, {
          rules: importRules,
          sent,
        }),
    },
  };
}
