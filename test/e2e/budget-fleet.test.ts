import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport, startBackhaul } from '../support/backhaul-process.ts';
import { compareSets, type EventSet, eventsAt, SAME } from '../support/event-set.ts';
import { startRedis } from '../support/redis.ts';
import { mostInAnyWindow, startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace, type Workplace, writeExports } from '../support/workplace.ts';

/**
 * Three worker processes on one migration never exceed the budget in any 60 seconds, use more than
 * nine tenths of it, and deliver what one process does. A bit over two windows by its nature:
 * BACKHAUL_TEST_LONG=1 runs it. The rules of the budget itself are held by test/deliver.
 */
const LONG = process.env['BACKHAUL_TEST_LONG'] === '1';
const TIMEOUT_MS = 400_000;
const WINDOW_MS = 60_000;
const CAP = 3_000;
const KEY = 'phc_fleet';

afterEach(killAllBackhaul);

it.runIf(LONG)(
  'a fleet of three workers keeps to one budget and uses it',
  async ({ onTestFinished }) => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    await writeExports(workplace, { files: 9, records: 1_000 });

    const fleet = await runFleet(workplace, onTestFinished);
    const one = await runAlone(workplace, onTestFinished);
    expect(compareSets(fleet.events, one)).toEqual(SAME);
    expect(fleet.conflicts).toEqual([]);

    const most = mostInAnyWindow(fleet.arrivals, WINDOW_MS);
    const first = fleet.arrivals[0]?.atMs ?? 0;
    // Once the first window is full: the start-up of three processes is not the budget's doing.
    const secondWindow = fleet.arrivals.filter(({ atMs }) => atMs >= first + 30_000 && atMs < first + 90_000);
    const used = secondWindow.reduce((sum, { events }) => sum + events, 0);
    const lastMs = (fleet.arrivals.at(-1)?.atMs ?? 0) - first;
    console.info(
      `budget ${CAP}: ${most} at most in any window, ${used} in the middle one, ${Math.round(lastMs / 1000)} s`,
    );
    expect(lastMs).toBeGreaterThan(2 * WINDOW_MS);
    expect(most).toBeLessThanOrEqual(CAP);
    expect(used).toBeGreaterThan(0.9 * CAP);
  },
  TIMEOUT_MS,
);

type OnEnd = (stop: () => Promise<void>) => void;

async function runFleet(workplace: Workplace, onEnd: OnEnd) {
  const redis = await startRedis();
  onEnd(() => redis.stop());
  const destination = await startStrictDestination({ apiKey: KEY, latencyMs: 100 });
  onEnd(() => destination.stop());
  const env = { REDIS_URL: redis.url, BACKHAUL_PROJECT_API_KEY: KEY };
  const options = { dataDir: workplace.dataDir('fleet'), env };
  const manifest = workplace.manifest(manifestFor('fleet', destination.url, CAP));

  const workers = [1, 2, 3].map(() => startBackhaul(['worker', '--concurrency', '2'], options));
  const ended = await startBackhaul(['run', '--json', '--produce-only', manifest], options).ended;
  expect(ended.code, ended.stderr).toBe(0);
  expect(parseReport(ended).balanced).toBe(true);
  for (const worker of workers) worker.kill('SIGTERM');
  for (const worker of workers) expect(await worker.ended).toMatchObject({ code: 0 });
  const { arrivals, conflicts } = destination;
  return { events: eventsAt(destination), arrivals, conflicts };
}

async function runAlone(workplace: Workplace, onEnd: OnEnd): Promise<EventSet> {
  const destination = await startStrictDestination({ apiKey: KEY });
  onEnd(() => destination.stop());
  const options = { dataDir: workplace.dataDir('alone'), env: { BACKHAUL_PROJECT_API_KEY: KEY } };
  const manifest = workplace.manifest(manifestFor('alone', destination.url, 600_000));
  const ended = await startBackhaul(['run', '--json', manifest], options).ended;
  expect(ended.code, ended.stderr).toBe(0);
  return eventsAt(destination);
}

const manifestFor = (name: string, url: string, eventsPerMinute: number) => ({
  name,
  source: { type: 'amplitude', from: 'exports/*.zip' },
  rejects: { failAbove: '5%' },
  destination: { url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
  limits: { eventsPerMinute },
  approval: { reference: 'test', eventsPerMinute },
});
