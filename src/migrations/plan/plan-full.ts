import type { Environment } from '../../../config/environment.ts';
import { knowsApiKey } from '../../../config/manifest/load-manifest.ts';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import type { Staging } from '../../contract/staging.ts';
import { DEFAULT_BATCH_LIMITS } from '../../deliver/batch-builder.ts';
import { toLatest } from '../../deliver/not-stored.ts';
import type { FindPlace } from '../../lib/places.ts';
import { limitToStored } from '../../pipeline/limit-to-stored.ts';
import { getMappingName } from '../../sources/registry.ts';
import type { SourceSlice } from '../../sources/source.ts';
import { findLedger } from '../../state/ledger/ledger.ts';
import { createManifestMap } from '../manifest/create-maps.ts';
import { readPlanHashKey } from '../manifest/hash-key.ts';
import { createManifestStamp } from '../manifest/stamps.ts';
import { buildReport } from '../report/build-report.ts';
import type { Report } from '../report/report.ts';
import { resolveLedger } from '../resolve-destination.ts';
import { addBatch, type EventTimes, TimeCounts } from './event-times.ts';
import { fullPass } from './full-pass.ts';
import { withScratch } from './scratch.ts';

export interface PlanFullOptions {
  /** For the variable that names the project key, by which the ledger of the destination is found. */
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Called once the sample is planned and the full pass begins. */
  readonly onBegin?: () => void;
  readonly onProgress?: (recordsRead: number) => void;
}

export interface FullPlan {
  readonly report: Report;
  /** Of all events that a run would send. */
  readonly times: EventTimes;
}

/**
 * The report that a run would end with, were every event accepted, after what other migrations have sent about
 * persons to the same destination. The keys of the bundled API are not read, so for it the report is that of a
 * first migration, and so it is where the variable that names the project key is not set. Leaves nothing in staging.
 */
export async function planFull(
  staging: Staging,
  manifest: Manifest,
  files: readonly SourceSlice[],
  {
    env,
    signal,
    findPlace,
    now,
    clock,
    onBegin,
    onProgress,
  }: PlanFullOptions & {
    readonly findPlace?: FindPlace | undefined;
    readonly now: Date;
    readonly clock: () => Date;
  },
): Promise<FullPlan> {
  const times = new TimeCounts();
  onBegin?.();
  // Apart from the migration's own folder: by the time of a run, files and manifest may have changed.
  return withScratch(staging, manifest.name, clock, async (scratch) => {
    const { totals, people, syntheticEvents } = await fullPass({
      staging,
      scratch,
      files,
      map: limitToStored(
        createManifestMap(manifest, { findPlace, hashKey: readPlanHashKey(manifest, env) }),
        toLatest(now),
      ),
      batch: { ...manifest.limits.batch, eventBytes: DEFAULT_BATCH_LIMITS.eventBytes },
      stamp: createManifestStamp(manifest),
      overwritePeople: manifest.people.overwrite,
      groupIdentifyEvent: manifest.people.groupIdentifyEvent,
      sharedDevices: manifest.people.sharedDevices ?? 'none',
      ledger:
        manifest.destination && knowsApiKey(manifest, env)
          ? await findLedger(staging, resolveLedger(manifest, { env, bundled: undefined }))
          : undefined,
      onBatch: (events) => addBatch(times, events),
      signal,
      onProgress: onProgress ?? (() => {}),
    });
    const report = buildReport({
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
        lost: [],
      },
      failures: [],
      lostObjects: [],
    });
    return { report, times: times.toEventTimes(manifest.source.timezone, true) };
  });
}
