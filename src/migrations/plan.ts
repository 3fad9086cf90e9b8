import { knowsApiKey } from '../../config/manifest/load-manifest.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import { PreflightError } from '../lib/errors.ts';
import { planSpace } from '../pipeline/stage/plan-space.ts';
import { openManifestPlaces } from './manifest/places.ts';
import type { ManifestAt } from './manifest/stored-manifest.ts';
import type { PlanContext } from './migration-runtime.ts';
import { checkHeaders } from './plan/check-headers.ts';
import { checkLimits } from './plan/check-limits.ts';
import { explainRejects } from './plan/explain-rejects.ts';
import { makePlan } from './plan/make-plan.ts';
import type { Plan } from './plan/plan.ts';
import { type PlanFullOptions, planFull } from './plan/plan-full.ts';
import { findFiles } from './prepare/find-sources.ts';
import type { Report } from './report/report.ts';

export interface PlanOptions {
  /** Records read of each sampled file. */
  readonly recordsPerFile: number;
  /** Also the pass over every record. */
  readonly full?: PlanFullOptions | undefined;
}

export type PlanResult =
  | {
      readonly kind: 'planned';
      readonly plan: Plan;
      /** The report that a run would end with, were every event accepted. */
      readonly full: Report | undefined;
      /** Why a run would end with too many rejects, and the likely cause. */
      readonly rejects: string | undefined;
      /** Why a run would be refused: the contract asks for an approval first. Holds the support request. */
      readonly refusal: string | undefined;
    }
  /** The full pass was stopped by its signal. */
  | { readonly kind: 'stopped'; readonly reason: string };

/** What a run would do; sends nothing. Throws ConfigError where manifest or source must be changed. */
export async function planMigration(
  context: PlanContext,
  { manifest, baseDir }: ManifestAt,
  { recordsPerFile, full }: PlanOptions,
): Promise<PlanResult> {
  const leftOut: string[] = [];
  const onLeftOut = (sentence: string) => void leftOut.push(sentence);
  const files = await findFiles(context, { manifest, baseDir }, { onLeftOut });
  await checkHeaders(files, manifest.source);
  const staging = await context.openStaging();
  const findPlace = await openManifestPlaces(manifest, baseDir);
  const now = context.now();
  const sampled = await makePlan(manifest, files, now, { recordsPerFile, findPlace });
  const plan = {
    ...sampled,
    warnings: [...sampled.warnings, ...leftOut],
    staging: { location: staging.location, ...(await planSpace(staging, files)) },
  };
  try {
    const pass =
      full && (await planFull(staging, manifest, files, { ...full, findPlace, now, clock: context.now }));
    const judged = pass ? { ...plan, events: { count: pass.report.events.sent, exact: true } } : plan;
    return {
      kind: 'planned',
      plan: pass
        ? { ...plan, times: pass.times, warnings: [...plan.warnings, ...warnOfKey(manifest, full)] }
        : plan,
      full: pass?.report,
      rejects: explainRejects(
        plan,
        { failAbove: manifest.rejects.failAbove, isDeclared: 'mapping' in manifest.source },
        pass?.report,
      ),
      refusal: explainLimits(judged),
    };
  } catch (error) {
    if (full?.signal.aborted && error instanceof Error && error === full.signal.reason)
      return { kind: 'stopped', reason: error.message };
    throw error;
  }
}

/** Without the key nobody knows the ledger of the destination. */
const warnOfKey = (manifest: Manifest, { env }: PlanFullOptions): string[] =>
  knowsApiKey(manifest, env)
    ? []
    : [
        `The variable of destination.apiKey is not set, so what other migrations sent about persons to ${manifest.destination?.url} was not taken into account; set it to plan the merges.`,
      ];

function explainLimits(plan: Plan): string | undefined {
  try {
    checkLimits(plan, plan.limits, plan.approval);
    return undefined;
  } catch (error) {
    if (error instanceof PreflightError) return error.message;
    throw error;
  }
}
