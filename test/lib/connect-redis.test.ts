import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { connectRedis } from '../../src/lib/connect-redis.ts';
import { startRedis } from '../support/redis.ts';

it('warns of no leak where many commands under way meet a full Redis, and sends each again', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const warnings: Error[] = [];
  const warned = (warning: Error) => {
    if (warning.name === 'MaxListenersExceededWarning') warnings.push(warning);
  };
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const operator = new Redis(server.url);
  onTestFinished(() => operator.disconnect());
  const redis = connectRedis(server.url);
  onTestFinished(() => redis.disconnect());

  await redis.ping();
  await operator.config('SET', 'maxmemory', '1');
  const isRefused = new Promise((resolve) => redis.once('error', resolve));
  const written = Promise.all(Array.from({ length: 50 }, (_, n) => redis.set(`key-${n}`, n)));
  await isRefused;
  await operator.config('SET', 'maxmemory', '0');
  expect(await written).toEqual(Array.from({ length: 50 }, () => 'OK'));
  expect(warnings).toEqual([]);
}, 60_000);
