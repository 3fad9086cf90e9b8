import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { explainLoss } from '../../src/lib/redis/eviction-policy.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

it('a Redis that dropped keys because it was full says so', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const redis = new Redis(server.url);
  onTestFinished(() => redis.disconnect());
  expect(await explainLoss(redis)).toBe('Redis lost its memory');
  await redis.set('key', 'value');
  await redis.config('SET', 'maxmemory-policy', 'allkeys-random');
  await redis.config('SET', 'maxmemory', '1');
  await until('the key to be dropped', async () => (await redis.exists('key')) === 0 || undefined);
  expect(await explainLoss(redis)).toMatch(
    /has dropped keys since its start because it was full \(evicted_keys: 1\)/,
  );
});

it('what lost its memory is named also where Redis does not answer', async () => {
  const info = () => Promise.reject(new Error('away'));
  expect(await explainLoss({ info })).toBe('Redis lost its memory');
});
