import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { DEFAULT_BATCH_LIMITS } from '../../deliver/batch-builder.ts';
import { bindSource, getMappingName } from '../../sources/registry.ts';
import type { SourceSlice } from '../../sources/source.ts';
import { toPlanPrefix } from '../../state/keys.ts';
import { clearStaging } from '../../state/migrations.ts';
import { buildReport } from '../report/build-report.ts';
import type { Report } from '../report/report.ts';
import { fullPass } from './full-pass.ts';

export interface PlanFullOptions {
  readonly signal: AbortSignal;
  /** Called once the sample is planned and the full pass begins. */
  readonly onBegin?: () => void;
  readonly onProgress?: (recordsRead: number) => void;
}

/** The report that a run would end with, were every event accepted. Leaves nothing in staging. */
export async function planFull(
  staging: Staging,
  manifest: Manifest,
  files: readonly SourceSlice[],
  { signal, onBegin, onProgress }: PlanFullOptions,
): Promise<Report> {
  // Apart from the migration's own folder: by the time of a run, files and manifest may have changed.
  const scratch = toPlanPrefix(manifest.name);
  const source = bindSource(manifest.source);
  onBegin?.();
  try {
    await clearStaging(staging, scratch); // an earlier one may have been killed
    const { totals, people, syntheticEvents } = await fullPass({
      staging,
      scratch,
      files,
      map: source.createMap(),
      batch: { ...manifest.limits.batch, eventBytes: DEFAULT_BATCH_LIMITS.eventBytes },
      overwritePeople: manifest.people.overwrite,
      groupIdentifyEvent: manifest.people.groupIdentifyEvent,
      signal,
      onProgress: onProgress ?? (() => {}),
    });
    return buildReport({
      migration: manifest.name,
      mapping: getMappingName(manifest.source.type),
      destination: 'none: nothing was sent',
      totals,
      parts: totals.parts(),
      partsWithoutFingerprints: 0,
      stagedFiles: [],
      unstagedFiles: [],
      persons: {
        sent: { people, events: { sent: syntheticEvents, accepted: syntheticEvents }, refused: [] },
        isHeld: manifest.persons === 'hold',
        releasedBy: undefined,
      },
      failures: [],
      lostObjects: [],
    });
  } finally {
    await clearStaging(staging, scratch);
  }
}
