import { CONTRACT_LIMITS, type Manifest, readOptionsOf } from '../../config/manifest.ts';
import { createSourceMap, knownFields } from '../map/sources.ts';
import { checkLimits } from '../plan/check-limits.ts';
import type { Plan } from '../plan/plan.ts';
import { planMigration } from '../plan/plan-migration.ts';
import { readSample } from '../plan/read-sample.ts';
import type { SourceFile } from '../source/source-file.ts';

const RECORDS_PER_FILE = 500;

/** What a run would do, from the beginnings of the files. */
export async function makePlan(
  manifest: Manifest,
  files: readonly SourceFile[],
  recordsPerFile = RECORDS_PER_FILE,
): Promise<Plan> {
  const { source, limits } = manifest;
  return planMigration({
    migration: manifest.name,
    source: { type: source.type, timezone: source.timezone, knownFields: knownFields(source.type) },
    destination: manifest.destination?.url,
    limits,
    approval: manifest.approval,
    files: files.map(({ name, bytes }) => ({ name, bytes })),
    sample: await readSample(files, readOptionsOf(source), createSourceMap(source), recordsPerFile),
    now: new Date(),
  });
}

/** The same check once more is known: an estimate from a sample may have been too low. */
export async function assertVolume(
  manifest: Manifest,
  files: readonly SourceFile[],
  records: number,
): Promise<void> {
  const allowed = Math.max(CONTRACT_LIMITS.totalEvents, manifest.approval?.totalEvents ?? 0);
  if (!manifest.destination || records <= allowed) return;
  const plan = await makePlan(manifest, files);
  checkLimits({ ...plan, events: { count: records, exact: false } }, plan.limits, plan.approval);
}

/** Refuses what the contract asks an approval for, before anything is sent (exit 4). */
export async function preflight(manifest: Manifest, files: readonly SourceFile[]): Promise<void> {
  if (!manifest.destination) return;
  const plan = await makePlan(manifest, files);
  checkLimits(plan, plan.limits, plan.approval);
}
