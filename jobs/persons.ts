import type { Redis } from 'ioredis';
import type { Staging } from '../src/contract/staging.ts';
import type { OpenMigrations } from '../src/migrations/open-migrations.ts';
import {
  foldRange,
  mergeRange,
  type RangeDeps,
  type RangeWork,
  resolveRange,
} from '../src/migrations/persons/ranges.ts';
import type { Handler } from './worker.ts';

export interface PersonsDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly migrations: OpenMigrations;
}

type PersonsJob = 'resolve-people' | 'merge-people' | 'fold-people';

const STEPS: Readonly<Record<PersonsJob, (work: RangeWork, deps: RangeDeps) => Promise<void>>> = {
  'resolve-people': resolveRange,
  'merge-people': mergeRange,
  'fold-people': foldRange,
};

/**
 * Jobs about persons, each for a range of buckets: `resolve-people` decides which ids belong together,
 * `merge-people` sends the merges, `fold-people` the properties of persons and groups.
 */
export function personsHandler(
  job: PersonsJob,
  { staging, redis, migrations }: PersonsDeps,
): Handler<PersonsJob> {
  return ({ turn, from, to, ...of }, run) =>
    migrations.use(of, run.signal, async (migration, signal) => {
      const onProgress = (sent: number) => run.progress({ sent });
      await STEPS[job]({ migration, turn, from, to }, { staging, redis, signal, onProgress });
      return { kind: 'done' as const };
    });
}
