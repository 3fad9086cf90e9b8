import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { createJsonlBench, lines, numbers } from '../e2e/jsonl-bench.ts';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { MOMENTS } from './moments.ts';

/** Each wipe costs the budget a window of 60 s: what was sent in it is not known any more (I6). */
const TIMEOUT_MS = 600_000;
afterEach(killAllBackhaul);

/** `npm run test:chaos` takes twice as long. */
const WIPES = MOMENTS > 1 ? 4 : 2;
const RECORDS = WIPES * 3_000;
const REQUESTS_IN_FLIGHT = 2;
const BATCH_EVENTS = 20;
const LATENCY_MS = 200;
const EVENTS_IN_5_S = REQUESTS_IN_FLIGHT * BATCH_EVENTS * (5_000 / LATENCY_MS);

it.runIf(ALL)(
  `FLUSHALL ${WIPES} times in one run repeats at most 5 s of work and the requests in flight, each time`,
  async (context) => {
    const server = await startRedis();
    context.onTestFinished(() => server.stop());
    const bench = await createJsonlBench(context, {
      latencyMs: LATENCY_MS,
      embedded: true,
      env: { REDIS_URL: server.url },
      limits: {
        eventsPerMinute: 1_000_000,
        requestsInFlight: REQUESTS_IN_FLIGHT,
        batch: { events: BATCH_EVENTS },
      },
      more: { approval: { reference: 'a test', eventsPerMinute: 1_000_000 } },
    });
    bench.put('a.json', lines(0, RECORDS));
    const run = bench.run();
    const redis = new Redis(server.url);
    context.onTestFinished(() => redis.disconnect());
    for (let wipe = 1; wipe <= WIPES; wipe += 1) {
      const due = (wipe * RECORDS) / (WIPES + 1);
      const isDue = () => (bench.destination.events().size >= due ? true : undefined);
      await until(`${due} events at the destination`, isDue, TIMEOUT_MS);
      await redis.flushall();
    }
    const ended = await run;
    expect(ended.code, ended.stderr).toBe(0);
    expect(parseReport(ended)).toMatchObject({
      balanced: true,
      counts: { read: RECORDS, delivered: RECORDS },
    });
    expect(bench.arrived()).toEqual(numbers(0, RECORDS));
    const arrived = bench.destination.arrivals.reduce((sum, { events }) => sum + events, 0);
    const mostAgain = WIPES * (EVENTS_IN_5_S + 2 * REQUESTS_IN_FLIGHT * BATCH_EVENTS);
    expect(arrived - RECORDS, 'events sent again').toBeLessThanOrEqual(mostAgain);
  },
  TIMEOUT_MS,
);
