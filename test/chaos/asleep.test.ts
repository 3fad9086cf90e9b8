import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { killAllBackhaul, runBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace, writeExports } from '../support/workplace.ts';

/** A worker that sleeps while its migration is paused wakes with requests that wait for a permit. */
const KEY = 'phc_asleep';
/** Longer than what Redis said last counts for. */
const ASLEEP_MS = 12_000;
/** Within this a permit is granted at the rate of the manifest, several times. */
const AWAKE_MS = 8_000;

let workplace: Workplace;
let redis: TestRedis;
beforeAll(async () => {
  workplace = createWorkplace();
  redis = await startRedis();
  await writeExports(workplace, { files: 2, records: 1_500 });
});
afterEach(killAllBackhaul);
afterAll(async () => {
  await redis?.stop();
  await workplace?.remove();
});

it.runIf(ALL)(
  'a worker that slept while its migration was paused sends nothing when it wakes',
  async () => {
    const destination = await startStrictDestination({ apiKey: KEY });
    const manifest = workplace.manifest({
      name: 'asleep',
      source: { type: 'amplitude', from: 'exports/*.zip' },
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
      limits: { eventsPerMinute: 3_000, requestsInFlight: 2, batch: { events: 100 } },
    });
    const options = {
      dataDir: workplace.dataDir('asleep'),
      env: { REDIS_URL: redis.url, BACKHAUL_PROJECT_API_KEY: KEY },
    };
    const run = startBackhaul(['run', '--json', '--produce-only', manifest], options);
    const worker = startBackhaul(['worker'], options);
    // Past the first second, of which the budget makes up for a tenth of a minute: from here on permits are waited for.
    await until('the worker to wait for permits', () => (destination.arrivals.length > 5 ? true : undefined));
    worker.kill('SIGSTOP');
    const paused = await runBackhaul(['pause', 'asleep'], options);
    expect(paused.code, paused.stderr).toBe(0);
    expect((await run.ended).code).toBe(5);
    await pause(ASLEEP_MS);
    const before = destination.arrivals.length;
    worker.kill('SIGCONT');
    await pause(AWAKE_MS);
    expect(destination.arrivals.length).toBe(before);
    worker.kill('SIGTERM');
    await worker.ended;
    await destination.stop();
  },
  120_000,
);
