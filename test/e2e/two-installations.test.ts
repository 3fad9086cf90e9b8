import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, parseReport, startBackhaul } from '../support/backhaul-process.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, writeExports } from '../support/workplace.ts';

/** Two installations share a Redis, and each has a migration of the same name, staging and destination of its own. */
const FILES = 6;
const RECORDS = 400;
afterEach(killAllBackhaul);

it('migrations of one name in two stagings do not work on the parts of one another', async ({
  onTestFinished,
}) => {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  await writeExports(workplace, { files: FILES, records: RECORDS });
  const start = async (key: string) => {
    const destination = await startStrictDestination({ apiKey: key, latencyMs: 100 });
    onTestFinished(() => destination.stop());
    const manifest = workplace.manifest({
      name: 'exports',
      source: { type: 'amplitude', from: join(workplace.folder, 'exports/*.zip') },
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
      approval: { reference: 'a test', eventsPerMinute: 1_000_000 },
      rejects: { failAbove: '5%' },
      limits: { eventsPerMinute: 1_000_000, requestsInFlight: 1, batch: { events: 50 } },
    });
    const env = { REDIS_URL: redis.url, BACKHAUL_PROJECT_API_KEY: key };
    const run = startBackhaul(['run', '--json', manifest], { dataDir: workplace.dataDir(key), env });
    // The manifest of the other one takes the place of this one.
    await until('the run to begin', () => destination.requests.length > 0 || !run.isRunning() || undefined);
    return { run, destination };
  };
  const sides = [await start('phc_one'), await start('phc_two')];
  for (const { run, destination } of sides) {
    const ended = await run.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const { counts, events } = parseReport(ended);
    expect(counts.read).toBe(FILES * RECORDS);
    expect(destination.events().size).toBe(events.accepted + events.synthetic);
  }
}, 120_000);
