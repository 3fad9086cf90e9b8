import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { SourceFile } from '../../sources/files/source-file.ts';
import { bindSource, getSourceType } from '../../sources/registry.ts';
import { buildPlan } from './build-plan.ts';
import type { Plan } from './plan.ts';
import { readSample } from './read-sample.ts';

/** What a run would do, from the beginnings of the files. */
export async function makePlan(
  manifest: Manifest,
  files: readonly SourceFile[],
  now: Date,
  recordsPerFile: number,
): Promise<Plan> {
  const { source, limits } = manifest;
  const { createMap, read } = bindSource(source);
  return buildPlan({
    migration: manifest.name,
    source: { type: source.type, timezone: source.timezone, knownFields: getSourceType(source.type).knownFields() },
    destination: manifest.destination?.url,
    limits,
    approval: manifest.approval,
    files: files.map(({ name, bytes }) => ({ name, bytes })),
    sample: await readSample(files, read, createMap(), recordsPerFile),
    now,
  });
}
