import { Redis } from 'ioredis';
import { expect, it, onTestFinished, vi } from 'vitest';
import { connectRedis } from '../../src/lib/redis/connect-redis.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

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

it('ends a connection that is closed between two tries, and what waits for it, be it a duplicate or not', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const redis = connectRedis(server.url);
  for (const each of [redis, redis.duplicate()]) {
    await each.ping();
    const isBetween = new Promise((resolve) => each.once('reconnecting', resolve));
    const unanswered = each.blpop('nothing', 0).catch(String);
    await server.kill9();
    await isBetween;
    const queued = each.get('a').catch(String);
    const ended = new Promise((resolve) => each.once('end', resolve));
    each.disconnect();
    await ended;
    expect(await queued).toBe('Error: Connection is closed.');
    expect(await unanswered).toBe('Error: Connection is closed.');
    await server.restart();
  }
}, 30_000);

it('prints nothing where nobody listens for errors, be it a connection or a duplicate', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const operator = new Redis(server.url);
  onTestFinished(() => operator.disconnect());
  await operator.call('ACL', 'SETUSER', 'queue', 'on', '>old', 'allkeys', 'allchannels', '+@all');
  const address = new URL(server.url);
  const redis = connectRedis(`redis://queue:old@${address.hostname}:${address.port}`);
  const twins = [redis, redis.duplicate(), redis.duplicate().duplicate()];
  onTestFinished(() => {
    for (const twin of twins) twin.disconnect();
  });
  await Promise.all(twins.map((twin) => twin.ping()));

  await operator.call('ACL', 'SETUSER', 'queue', 'resetpass', '>new');
  const closed = twins.map(() => 0);
  for (const [index, twin] of twins.entries())
    twin.on('close', () => {
      closed[index] = (closed[index] ?? 0) + 1;
    });
  await operator.call('CLIENT', 'KILL', 'USER', 'queue');
  await until('each has tried again, twice', () => closed.every((times) => times >= 3) || undefined);
  expect(printed).not.toHaveBeenCalled();
}, 60_000);
