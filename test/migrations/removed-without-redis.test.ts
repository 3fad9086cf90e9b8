import { Queue } from 'bullmq';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QUEUE_PREFIX } from '../../jobs/catalog.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { startMigration } from '../../src/migrations/start.ts';
import { importing, type MigrationLab, openMigrationLab, stageOnly } from '../support/migration-lab.ts';
import { until } from '../support/until.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

it('jobs of a migration that was removed while Redis was away end, and its name begins again', async () => {
  const queue = new Queue('import-part', { connection: lab.redis, prefix: QUEUE_PREFIX });
  const loaded = await lab.writeManifest('again');
  await startMigration(lab.runtime, loaded, stageOnly('until later'));
  const [left] = await queue.getJobs(['waiting', 'prioritized']);
  await removeMigration(
    { ...lab.runtime, askRedis: () => Promise.reject(new Error('Redis is away')) },
    'again',
    {
      forget: true,
      resolveLedger: () => {
        throw new Error('to forget it needs no key');
      },
    },
  );
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
  await until('all jobs to end', async () => {
    const open = await queue.getJobCountByTypes('waiting', 'prioritized', 'delayed', 'active');
    return open === 0 || undefined;
  });
  expect((await queue.getJob(left?.id ?? ''))?.returnvalue).toMatchObject({
    kind: 'handed_back',
    why: expect.stringContaining('which had the name "again", is over'),
  });
  await queue.close();
});
