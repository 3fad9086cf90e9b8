import type { Redis } from 'ioredis';
import type { Slice } from '../src/contract/slice.ts';
import type { Staging } from '../src/contract/staging.ts';
import { ConfigError, SourceError, UnableError } from '../src/lib/errors.ts';
import type { OpenMigration, OpenMigrations } from '../src/migrations/open-migrations.ts';
import { type StagedSlice, toGroup } from '../src/pipeline/stage/slice-groups.ts';
import { stageOwn } from '../src/pipeline/stage/stage-own.ts';
import type { ChangedMember } from './catalog.ts';
import type { Handler } from './worker.ts';

export interface StageSliceDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly migrations: OpenMigrations;
  /** Migration that this process is the producer of, if any. */
  readonly produces: string | undefined;
}

/**
 * Job `stage-slice`: one slice on shared storage becomes parts, on whichever worker takes it. The
 * producer reads the parts from staging; progress says how many there are. Of a group of small files the
 * job carries the id, and those that have changed: its members are in the record of the migration.
 */
export function stageSliceHandler(deps: StageSliceDeps): Handler<'stage-slice'> {
  const { staging, redis, migrations, produces } = deps;
  return ({ packing, slice, changed, ...of }, run) =>
    migrations.use(of, run.signal, async (migration, signal) => {
      let parts = 0;
      const onPart = () => {
        parts += 1;
        run.progress({ parts });
      };
      try {
        const opened = openStagedSlice(migration, slice, changed);
        const ofEpoch = { staging, redis, migration: migration.record, epoch: of.epoch, packing };
        await stageOwn({ slice: opened, ...ofEpoch, onPart, signal });
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        // The producer has listed the source with the same rights: where it cannot read, nobody is to try again.
        if (of.migration === produces) throw new SourceError(error.message, error);
        throw new UnableError(`this worker cannot read ${slice.name}: ${error.message}`, 'backoff', error);
      }
      return { kind: 'done' as const };
    });
}

function openStagedSlice(
  { record, openSlice }: OpenMigration,
  slice: Slice,
  changed: readonly ChangedMember[] = [],
): StagedSlice {
  const members = record.files.filter((file) => file.slice === slice.fileId);
  if (members.length === 0) return openSlice(slice);
  const now = new Map(changed.map((file) => [file.fileId, file]));
  return toGroup(
    slice.fileId,
    members.map(({ fileId, name, bytes, modified }) =>
      openSlice({ fileId, name, bytes, modified, ...now.get(fileId), location: 'shared' }),
    ),
  );
}
