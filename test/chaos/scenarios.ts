import { expect } from 'vitest';
import type { Bench } from './lab.ts';

/** What happens to a run at a moment, and how it must end. */
export type Scenario = (bench: Bench, share: number) => Promise<void>;

/** Takes the embedded Redis and API along. */
export const producerKilled: Scenario = async (bench, share) => {
  const run = bench.start('run', '--json', bench.manifest);
  await bench.moment(run, share);
  run.kill('SIGKILL');
  await bench.expectSameEnd(await run.ended);
};

/** The run heals itself. */
export const redisWiped: Scenario = async (bench, share) => {
  const run = bench.start('run', '--json', bench.manifest);
  await bench.moment(run, share);
  if (run.isRunning()) await bench.wipeRedis(run);
  const ended = await run.ended;
  expect(ended.code, ended.stderr).toBe(0);
  await bench.expectSameEnd(ended);
};
