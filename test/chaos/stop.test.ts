import { Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { QUEUE_PREFIX, SHARED_JOBS } from '../../jobs/catalog.ts';
import { EXIT } from '../../src/cli/exit-code.ts';
import { type Ended, killAllBackhaul, waitForServices } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { until } from '../support/until.ts';
import { type Bench, createLab, LAB_TIMEOUT_MS, type Lab } from './lab.ts';

/**
 * Stopped on purpose: everything so far is kept, and the command that continues is printed. `npm test` runs
 * one stop by a signal, the long form all.
 */
let lab: Lab;
/** A run that is still under way when the signal or command arrives, however long that takes. */
async function openSlow(name: string): Promise<Bench> {
  const bench = await lab.open(name);
  bench.setSlow(true);
  return bench;
}
beforeAll(async () => {
  lab = await createLab({ records: 200 });
}, LAB_TIMEOUT_MS);
afterEach(killAllBackhaul);
afterAll(() => lab?.remove());

const expectStopped = (ended: Ended, name: string) => {
  expect(ended.code, ended.stderr).toBe(5);
  expect(ended.stderr).toContain(`backhaul.mjs resume ${name}`);
};

it(
  'SIGTERM stops at the next batch and says how to go on',
  async () => {
    const bench = await openSlow('term');
    const run = bench.start('run', '--json', bench.manifest);
    await bench.receipts(1);
    run.kill('SIGTERM');
    const ended = await run.ended;
    expectStopped(ended, 'term');
    await bench.expectSameEnd(ended);
  },
  LAB_TIMEOUT_MS,
);

it.runIf(ALL)(
  'a worker that gets SIGTERM hands its part back to the others at once',
  async () => {
    const bench = await openSlow('hand-back');
    const run = bench.start('run', '--json', '--produce-only', bench.manifest);
    await bench.up(run);
    const first = bench.start('worker', '--concurrency', '2');
    await bench.receipts(1);
    const second = bench.start('worker', '--concurrency', '2');
    first.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 0 });
    const startMs = performance.now();
    bench.setSlow(false);
    await bench.expectSameEnd(await run.ended);
    // A lock that nobody gives back is only found stalled after 30 s.
    expect(performance.now() - startMs).toBeLessThan(25_000);
    // It ends by itself once the Redis of the run is gone.
    if (!second.isRunning()) expect([EXIT.done, EXIT.stoppedResumable]).toContain((await second.ended).code);
  },
  LAB_TIMEOUT_MS,
);

it.runIf(ALL)(
  'what was stopped is not sent by a worker that runs on',
  async () => {
    const bench = await openSlow('stopped');
    const serving = bench.start('serve');
    await bench.up(serving);
    const { redisUrl } = await waitForServices(bench.dataDir, serving);
    const worker = bench.start('worker', '--concurrency', '1');
    const run = bench.start('run', '--json', '--produce-only', bench.manifest);
    await bench.receipts(1);
    run.kill('SIGINT');
    const ended = await run.ended;
    expectStopped(ended, 'stopped');
    const queue = new Queue(SHARED_JOBS[0], { connection: { url: redisUrl }, prefix: QUEUE_PREFIX });
    await until('the worker to have put every open part back', async () => {
      const { waiting, prioritized, active } = await queue.getJobCounts('waiting', 'prioritized', 'active');
      return (waiting ?? 0) + (prioritized ?? 0) + (active ?? 0) === 0 ? true : undefined;
    });
    await queue.close();
    const { parts } = JSON.parse((await bench.command('status', '--json', 'stopped')).stdout);
    expect(parts.done).toBeLessThan(parts.staged);
    worker.kill('SIGTERM');
    serving.kill('SIGTERM');
    await Promise.all([worker.ended, serving.ended]);
    await bench.expectSameEnd(ended);
  },
  LAB_TIMEOUT_MS,
);

async function holdsUntilResumed(verb: 'pause' | 'cancel'): Promise<void> {
  const bench = await openSlow(verb);
  const run = bench.start('run', '--json', bench.manifest);
  await bench.receipts(1);
  expect(await bench.command(verb, verb)).toMatchObject({ code: 0 });
  const ended = await run.ended;
  expectStopped(ended, verb);
  const again = await bench.command('run', '--json', bench.manifest);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining(`backhaul.mjs resume ${verb}`) });
  await bench.expectSameEnd(ended);
}

// In npm test: test/migrations/use-cases.test.ts, without processes.
it.runIf(ALL)('pause holds until the migration is resumed', () => holdsUntilResumed('pause'), LAB_TIMEOUT_MS);

it.runIf(ALL)(
  'cancel holds until the migration is resumed',
  () => holdsUntilResumed('cancel'),
  LAB_TIMEOUT_MS,
);
