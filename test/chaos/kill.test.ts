import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { killAllBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { createLab, LAB_TIMEOUT_MS, type Lab } from './lab.ts';
import { atRandomMoments, MOMENTS } from './moments.ts';
import { producerKilled } from './scenarios.ts';

/**
 * Whatever is killed, whenever: what arrives is the same, and the books balance (I1 to I5). What concerns the
 * bundled API and a Redis that loses everything is in bundled.test.ts.
 */
let lab: Lab;
beforeAll(async () => {
  lab = await createLab(ALL ? {} : { records: 200 });
}, LAB_TIMEOUT_MS);
afterEach(killAllBackhaul);
afterAll(async () => {
  if (lab)
    console.info(
      `moments while the run was under way: ${lab.moments.hit}, after its end: ${lab.moments.missed}`,
    );
  await lab?.remove();
});

describe('SIGKILL', () => {
  atRandomMoments('of the producer', 'producer', () => lab, producerKilled, { smoke: true });

  atRandomMoments(
    'of a worker',
    'worker',
    () => lab,
    async (bench, share) => {
      const run = bench.start('run', '--json', '--produce-only', bench.manifest);
      await bench.up(run);
      const [worker] = [
        bench.start('worker', '--concurrency', '1'),
        bench.start('worker', '--concurrency', '1'),
      ];
      await bench.moment(run, share);
      worker?.kill('SIGKILL');
      await worker?.ended;
      run.kill('SIGTERM');
      await bench.expectSameEnd(await run.ended);
    },
  );

  // Found stalled after 30 s at the earliest: in the long form only.
  it.runIf(MOMENTS > 1)(
    'of the only worker, in the middle of its parts: the next one takes them over without a resume',
    async () => {
      const bench = await lab.open('takeover');
      const run = bench.start('run', '--json', '--produce-only', bench.manifest);
      await bench.up(run);
      const first = bench.start('worker', '--concurrency', '2');
      await bench.receipts(1);
      first.kill('SIGKILL');
      expect(await first.ended).toMatchObject({ signal: 'SIGKILL' });
      bench.start('worker', '--concurrency', '2');
      const ended = await run.ended;
      expect(ended.code, ended.stderr).toBe(0);
      await bench.expectSameEnd(ended);
    },
    LAB_TIMEOUT_MS,
  );

  atRandomMoments(
    'of Redis',
    'redis',
    () => lab,
    async (bench, share) => {
      const run = bench.start('run', '--json', bench.manifest);
      await bench.moment(run, share);
      if (run.isRunning()) await bench.killPart('redis', run);
      await bench.expectSameEnd(await run.ended);
    },
    { smoke: true },
  );
});
