import type { Staging } from '../src/contract/staging.ts';
import { ConfigError, SourceError, UnavailableError } from '../src/lib/errors.ts';
import type { OpenMigrations } from '../src/migrations/open-migrations.ts';
import { stageSlice } from '../src/pipeline/stage/stage-slice.ts';
import { layout } from '../src/state/keys.ts';
import type { Handler } from './worker.ts';

export interface StageSliceDeps {
  readonly staging: Staging;
  readonly migrations: OpenMigrations;
  /** Migration that this process is the producer of, if any. */
  readonly produces: string | undefined;
}

/**
 * Job `stage-slice`: one slice on shared storage becomes parts, on whichever worker takes it. The
 * producer reads the parts from staging; progress says how many there are.
 */
export function stageSliceHandler({ staging, migrations, produces }: StageSliceDeps): Handler<'stage-slice'> {
  return ({ migration: name, epoch, slice }, run) =>
    migrations.use(name, epoch, run.signal, async (migration, signal) => {
      let parts = 0;
      const onPart = () => {
        parts += 1;
        run.progress({ parts });
      };
      try {
        const opened = migration.openSlice(slice);
        await stageSlice({ slice: opened, staging, prefix: layout(name).prefix, onPart, signal });
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        // The producer has listed the source with the same rights: where it cannot read, nobody is to try again.
        if (name === produces) throw new SourceError(error.message, error);
        throw new UnavailableError(
          `this worker cannot read ${slice.name}: ${error.message}`,
          'backoff',
          error,
        );
      }
      return { kind: 'done' as const };
    });
}
