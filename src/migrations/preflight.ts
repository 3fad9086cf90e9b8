import type { Manifest } from '../../config/manifest/manifest.ts';
import type { SourceFile } from '../sources/files/source-file.ts';
import { bindSource, getSourceType } from '../sources/registry.ts';
import { checkLimits } from './plan/check-limits.ts';
import type { Plan } from './plan/plan.ts';
import { planMigration } from './plan/plan-migration.ts';
import { readSample } from './plan/read-sample.ts';

const RECORDS_PER_FILE = 500;

/** What a run would do, from the beginnings of the files. */
export async function makePlan(
  manifest: Manifest,
  files: readonly SourceFile[],
  recordsPerFile = RECORDS_PER_FILE,
): Promise<Plan> {
  const { source, limits } = manifest;
  const { createMap, read } = bindSource(source);
  return planMigration({
    migration: manifest.name,
    source: {
      type: source.type,
      timezone: source.timezone,
      knownFields: getSourceType(source.type).knownFields(),
    },
    destination: manifest.destination?.url,
    limits,
    approval: manifest.approval,
    files: files.map(({ name, bytes }) => ({ name, bytes })),
    sample: await readSample(files, read, createMap(), recordsPerFile),
    now: new Date(),
  });
}

/**
 * Refuses what the contract asks an approval for, before anything is sent (exit 4). Limits and approval
 * may change from one taking up to the next, so every one of them passes here.
 */
export async function preflight(manifest: Manifest, files: readonly SourceFile[]): Promise<Allowed> {
  const plan = manifest.destination && (await makePlan(manifest, files));
  if (plan) checkLimits(plan, plan.limits, plan.approval);
  return {
    assertVolume(records) {
      if (plan && records > plan.events.count)
        checkLimits({ ...plan, events: { count: records, exact: false } }, plan.limits, plan.approval);
    },
  };
}

/** That preflight let a migration through: nothing is driven without. */
export interface Allowed {
  /** The same check once more is staged: an estimate from a sample may have been too low. */
  assertVolume(records: number): void;
}
