import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { killAllBackhaul, readPid } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { until } from '../support/until.ts';
import { createLab, LAB_TIMEOUT_MS, type Lab } from './lab.ts';
import { atRandomMoments } from './moments.ts';
import { producerKilled, redisWiped } from './scenarios.ts';

/**
 * Faults of runs into the bundled API, whose process and database the run owns, and whose budget has no limit
 * that would wait for a Redis that lost everything. `npm test` kills the API in cli/deletions.test.ts and
 * embedded/api-process.test.ts, and loses the queue in migrations/run/lease.test.ts.
 */
describe.runIf(ALL)('into the bundled API', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab({ destination: 'bundled' });
  }, LAB_TIMEOUT_MS);
  afterEach(killAllBackhaul);
  afterAll(() => lab?.remove());

  atRandomMoments(
    'the producer is killed, and takes Redis and the API along',
    'producer',
    () => lab,
    producerKilled,
  );

  atRandomMoments(
    'the API is killed',
    'api',
    () => lab,
    async (bench, share) => {
      const run = bench.start('run', '--json', bench.manifest);
      await bench.moment(run, share);
      if (run.isRunning()) await bench.killPart('api', run);
      await bench.expectSameEnd(await run.ended);
    },
  );

  it(
    'the API is killed while it starts, which the same command heals',
    async () => {
      const bench = await lab.open('starting');
      const run = bench.start('run', '--json', bench.manifest);
      process.kill(await until('a pid of the API', () => readPid(bench.dataDir, 'api')), 'SIGKILL');
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(5);
      expect(ended.stderr).toContain(`Continue with: `);
      await bench.expectSameEnd(ended);
    },
    LAB_TIMEOUT_MS,
  );

  atRandomMoments(
    'Redis loses everything while the migration runs, which heals itself',
    'wiped',
    () => lab,
    redisWiped,
  );

  atRandomMoments(
    'Redis loses everything while the migration is stopped',
    'lost',
    () => lab,
    async (bench, share) => {
      const run = bench.start('run', '--json', bench.manifest);
      await bench.moment(run, share);
      run.kill('SIGTERM');
      const ended = await run.ended;
      await rm(join(bench.dataDir, 'redis'), { recursive: true, force: true });
      await bench.expectSameEnd(ended);
    },
  );
});
