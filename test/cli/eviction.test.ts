import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { killAllBackhaul, runBackhaul } from '../support/backhaul-process.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

afterEach(killAllBackhaul);

it('a Redis that drops keys when it is full is said once, as a line of the log', async ({
  onTestFinished,
}) => {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  const destination = await startStrictDestination({ apiKey: 'phc_eviction' });
  onTestFinished(() => destination.stop());
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const operator = new Redis(redis.url);
  await operator.config('SET', 'maxmemory-policy', 'allkeys-lru');
  operator.disconnect();
  writeFileSync(join(workplace.folder, 'a.json'), '{"e":"seen","u":"anna","t":"2024-02-03T04:05:06Z"}\n');
  const mapping = { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } };
  const manifest = workplace.manifest({
    name: 'shop',
    source: { type: 'jsonl', from: 'a.json', mapping },
    destination: { url: destination.url, apiKey: '${KEY}' },
  });
  const env = { KEY: 'phc_eviction', REDIS_URL: redis.url };
  const ended = await runBackhaul(['run', manifest], { dataDir: workplace.dataDir('eviction'), env });
  expect(ended.code, ended.stderr).toBe(0);
  const lines = ended.stderr.split('\n').filter((line) => /allkeys-lru|eviction/i.test(line));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 40,
    msg: expect.stringContaining('maxmemory-policy is allkeys-lru: Redis would drop jobs when full'),
  });
}, 120_000);
