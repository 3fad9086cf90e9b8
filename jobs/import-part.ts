import type { Redis } from 'ioredis';
import type { Checkpoint } from '../src/contract/progress.ts';
import type { Staging } from '../src/contract/staging.ts';
import type { OpenMigrations } from '../src/migrations/open-migrations.ts';
import { createFindTaken } from '../src/migrations/run/taken-events.ts';
import { importPart } from '../src/pipeline/import-part.ts';
import { limitToStored } from '../src/pipeline/limit-to-stored.ts';
import { createRedisCheckpoints } from '../src/state/checkpoints.ts';
import { findLatest } from '../src/state/migrations.ts';
import { createPartStore, leaveNothingOfRemoved } from '../src/state/part-store.ts';
import { loadSentBefore } from '../src/state/rejects/sent-before.ts';
import { createStagedCheckpoints } from '../src/state/staged-checkpoints.ts';
import type { Handler, JobRun } from './worker.ts';

export interface ImportPartDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly migrations: OpenMigrations;
}

/** What lasts shorter is not worth a word. */
const LOOK_EVERY_MS = 1_000;

/** Job `import-part`: one staged part becomes events, rejects, identity facts and a receipt. */
export function importPartHandler({ staging, redis, migrations }: ImportPartDeps): Handler<'import-part'> {
  return ({ part, ...of }, run) =>
    migrations.use(of, run.signal, async (open, signal) => {
      const { record, settings, maps, deliver } = open;
      // Again for each part: a replay may be removed while its migration runs.
      const findTaken = await createFindTaken(staging, record);
      const report = createReport(run.progress);
      const watch = setInterval(() => report.setTrouble(open.trouble?.()), LOOK_EVERY_MS).unref();
      const deps = {
        checkpoints: createStagedCheckpoints(createRedisCheckpoints(redis, record.id, open.epoch), {
          staging,
          record,
          part,
          nowMs: () => performance.now(),
        }),
        store: leaveNothingOfRemoved(createPartStore(staging, record), staging, record),
        map: limitToStored(maps[part.idFrom ?? 'vendor'], findLatest(record, part)),
        ...(record.replays === undefined
          ? {}
          : {
              loadSentBefore: (partId: string) => loadSentBefore(staging, record.name, partId),
              vendorMap: limitToStored(maps.vendor, findLatest(record, part)),
            }),
        findTaken,
        mapping: record.mapping,
        batch: settings.batch,
        stamp: settings.stamp,
        deliver,
        requestsInFlight: settings.requestsInFlight,
        onProgress: report.setCheckpoint,
      };
      await importPart(part, deps, signal).finally(() => clearInterval(watch));
      return { kind: 'done' as const };
    });
}

/** Progress of a part: outcomes up to its last checkpoint, and what the destination answers while it is waited for. */
function createReport(send: JobRun['progress']) {
  let counted = {};
  let waitingFor: string | undefined;
  return {
    setCheckpoint({ tally }: Checkpoint): void {
      counted = { ...tally.counts, events: tally.events.accepted };
      waitingFor = undefined;
      send(counted);
    },
    setTrouble(trouble: string | undefined): void {
      if (trouble === waitingFor) return;
      waitingFor = trouble;
      send(trouble === undefined ? counted : { ...counted, waitingFor: trouble });
    },
  };
}
