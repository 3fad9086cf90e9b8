import type { Redis } from 'ioredis';
import type { Checkpoint } from '../src/contract/progress.ts';
import type { Staging } from '../src/contract/staging.ts';
import type { OpenMigrations } from '../src/migrations/open-migrations.ts';
import { importPart } from '../src/pipeline/import-part.ts';
import { createRedisCheckpoints } from '../src/state/checkpoints.ts';
import { createPartStore } from '../src/state/part-store.ts';
import { createStagedCheckpoints } from '../src/state/staged-checkpoints.ts';
import type { Handler } from './worker.ts';

export interface ImportPartDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly migrations: OpenMigrations;
}

/** Job `import-part`: one staged part becomes events, rejects, identity facts and a receipt. */
export function importPartHandler({ staging, redis, migrations }: ImportPartDeps): Handler<'import-part'> {
  return ({ migration, epoch, part }, run) =>
    migrations.use(migration, epoch, run.signal, async (open, signal) => {
      const { record, settings, maps, deliver } = open;
      const deps = {
        checkpoints: createStagedCheckpoints(createRedisCheckpoints(redis, record.id, open.epoch), {
          staging,
          record,
          part,
          nowMs: () => performance.now(),
        }),
        store: createPartStore(staging, record),
        map: maps[part.idFrom ?? 'vendor'],
        mapping: record.mapping,
        batch: settings.batch,
        stamp: settings.stamp,
        deliver,
        requestsInFlight: settings.requestsInFlight,
        onProgress: ({ tally }: Checkpoint) =>
          run.progress({ ...tally.counts, events: tally.events.accepted }),
      };
      await importPart(part, deps, signal);
      return { kind: 'done' as const };
    });
}
