import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
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

/** A proxy that can lose connections as a host does that disappears: nobody is told, and what is sent leads nowhere. */
async function startLosingProxy(port: number) {
  const lines = new Set<readonly [Socket, Socket]>();
  let isLosing = false;
  const lose = ([client, server]: readonly [Socket, Socket]) => {
    client.unpipe(server).resume();
    server.unpipe(client).destroy();
  };
  const proxy = createServer((client) => {
    const line = [client, connect(port, '127.0.0.1')] as const;
    const [, server] = line;
    client.on('error', () => {}).on('close', () => server.destroy());
    server.on('error', () => {});
    client.pipe(server);
    server.pipe(client);
    lines.add(line);
    if (isLosing) lose(line);
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    for (const [client] of lines) client.destroy();
    proxy.close();
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    count: () => lines.size,
    setLosing(next: boolean) {
      isLosing = next;
      if (isLosing) for (const line of lines) lose(line);
    },
  };
}

it('gives a connection up that answers nothing, also while it is made, and sends its commands again', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const proxy = await startLosingProxy(server.port);
  const redis = connectRedis(`redis://127.0.0.1:${proxy.port}`, 300);
  onTestFinished(() => redis.disconnect());
  await redis.set('key', 'value');
  const before = proxy.count();
  proxy.setLosing(true);
  const value = redis.get('key');
  await until('a connection that is not answered either', () => proxy.count() > before + 1 || undefined);
  proxy.setLosing(false);
  expect(await value).toBe('value');
}, 60_000);
