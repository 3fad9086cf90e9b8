import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport, startBackhaul } from '../support/backhaul-process.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace } from '../support/workplace.ts';
import { line, numbers } from './jsonl-bench.ts';

/** A small migration is done soon while the only slot of the only worker holds a part that waits for its budget. */
const KEY = 'phc_turns';
const SMALL = 500;
/** Bytes of a record of the large one, so that few records make several parts of 8 MiB. */
const FILLER = 'x'.repeat(100_000);
const LARGE = 400;
afterEach(killAllBackhaul);

it('500 records to an idle destination are done while a large migration waits for its budget', async ({
  onTestFinished,
}) => {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const places = await Promise.all([1, 2].map(() => startStrictDestination({ apiKey: KEY })));
  for (const place of places) onTestFinished(() => place.stop());
  const [busy, idle] = places;
  if (!busy || !idle) throw new Error('no destinations');
  const folder = join(workplace.folder, 'in');
  mkdirSync(folder);
  const put = (name: string, records: number, more: object) =>
    writeFileSync(
      join(folder, name),
      numbers(0, records)
        .map((n) => `${line(n, more)}\n`)
        .join(''),
    );
  put('large.json', LARGE, { filler: FILLER });
  put('small.json', SMALL, {});

  const options = {
    dataDir: workplace.dataDir('shared'),
    env: { REDIS_URL: redis.url, BACKHAUL_PROJECT_API_KEY: KEY },
  };
  const produce = (name: string, url: string, eventsPerMinute: number) => {
    const manifest = workplace.manifest({
      name,
      source: {
        type: 'jsonl',
        from: `in/${name}.json`,
        mapping: {
          event: { column: 'e' },
          distinctId: { column: 'u' },
          timestamp: { column: 't' },
          key: ['n'],
        },
      },
      destination: { url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
      limits: { eventsPerMinute },
    });
    return startBackhaul(['run', '--json', '--produce-only', manifest], options);
  };
  startBackhaul(['worker', '--concurrency', '1'], options);
  produce('large', busy.url, 60);
  await until('the first events of the large one', () => busy.events().size > 0 || undefined);

  const producer = produce('small', idle.url, 10_000);
  await until('the small one to begin', () => producer.stderr() !== '' || undefined);
  const beganMs = performance.now();
  const small = await producer.ended;
  expect(performance.now() - beganMs).toBeLessThan(15_000);
  expect(small.code, small.stderr).toBe(0);
  expect(parseReport(small)).toMatchObject({ balanced: true, counts: { delivered: SMALL } });
  // At 60 events a minute the large one takes minutes.
  expect(busy.events().size).toBeLessThan(LARGE);
}, 120_000);
