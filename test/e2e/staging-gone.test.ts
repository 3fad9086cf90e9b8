import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { killAllBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { createJsonlBench, expectFault, lines, NAME, numbers } from './jsonl-bench.ts';

afterAll(killAllBackhaul);

const RECORDS = 300;

it('a run whose data folder is taken away ends and says so; put back, it goes on', async (context) => {
  const limits = { batch: { events: 50 }, requestsInFlight: 1 };
  const bench = await createJsonlBench(context, { limits, embedded: true });
  bench.put('a.json', lines(0, RECORDS));
  const aside = join(bench.folder, 'aside');
  // In processes of their own: the lock in the folder that is aside is that of one that has ended.
  const run = (...args: string[]) =>
    startBackhaul(args, { dataDir: bench.dataDir, env: { BACKHAUL_PROJECT_API_KEY: 'phc_e2e' } }).ended;
  bench.destination.overrule(async () => {
    bench.destination.overrule({ status: 503, body: '' });
    await rename(bench.dataDir, aside);
    return { status: 503, body: '' };
  });
  const ended = await run('run', bench.manifest());
  expectFault(ended, 2, /no longer holds migration "bad": it was removed, moved or replaced while it ran/);

  bench.destination.overrule(undefined);
  await rename(bench.dataDir, join(bench.folder, 'written meanwhile'));
  await rename(aside, bench.dataDir);
  const resumed = await run('resume', NAME);
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(bench.arrived()).toEqual(numbers(0, RECORDS));
}, 120_000);
