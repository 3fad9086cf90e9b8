import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport, readPid, startBackhaul } from '../support/backhaul-process.ts';
import { mostInAnyWindow } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createJsonlBench, lines, NAME, numbers } from './jsonl-bench.ts';

/** kill -9 of the owner of the embedded Redis, and of the Redis: the resume need not wait a window (I6). */
const TIMEOUT_MS = 240_000;
const CAP = 9_000;
const RECORDS = 1_500;
/** A tenth of a window is sent at once, the others are paced. */
const KILLED_AT = 1_000;
/** A lost count takes more than 60 s. */
const SOON_MS = 30_000;
afterEach(killAllBackhaul);

it(
  'a resume sends at once after a kill of the embedded Redis and its owner, within the budget',
  async (context) => {
    const limits = { eventsPerMinute: CAP, batch: { events: 50 } };
    const { destination, put, dataDir, manifest, command, arrived } = await createJsonlBench(context, {
      embedded: true,
      limits,
    });
    put('a.json', lines(0, RECORDS));
    const options = { dataDir, env: { BACKHAUL_PROJECT_API_KEY: 'phc_e2e' } };
    const owner = startBackhaul(['run', '--json', manifest()], options);
    await until('the first events', () => destination.events().size >= KILLED_AT || undefined);
    process.kill(readPid(dataDir, 'redis') ?? 0, 'SIGKILL');
    owner.kill('SIGKILL');
    await owner.ended;

    const before = destination.arrivals.length;
    expect(destination.events().size).toBeLessThan(RECORDS);
    const resumedMs = performance.now();
    const ended = await command('resume', '--json', NAME);
    expect(ended.code, ended.stderr).toBe(0);
    const firstMs = (destination.arrivals[before]?.atMs ?? Number.POSITIVE_INFINITY) - resumedMs;
    expect(firstMs).toBeLessThan(SOON_MS);
    expect(ended.stderr).not.toContain('count of sent events lost');
    expect(mostInAnyWindow(destination.arrivals, 60_000)).toBeLessThanOrEqual(CAP);
    expect(arrived()).toEqual(numbers(0, RECORDS));
    expect(parseReport(ended)).toMatchObject({ balanced: true, counts: { delivered: RECORDS } });
  },
  TIMEOUT_MS,
);
