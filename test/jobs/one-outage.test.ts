import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { logConnectionErrors } from '../../jobs/log-connection-errors.ts';
import { createWorkQueue } from '../../jobs/work-queue.ts';
import { createJobWorker } from '../../jobs/worker.ts';
import { connectRedis } from '../../src/lib/redis/connect-redis.ts';
import { watchRedisTrouble } from '../../src/runtime/redis-trouble.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

const JOBS = ['import-part', 'resolve-people', 'merge-people', 'fold-people'] as const;

it('a connection that is closed during an outage has no part in it any more', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const redis = connectRedis(server.url);
  onTestFinished(() => redis.disconnect());
  const log = pino({ level: 'silent' });
  const trouble = watchRedisTrouble(redis, log);
  onTestFinished(() => trouble.close());
  const said: (string | undefined)[] = [];
  trouble.watch((reason) => said.push(reason));
  const closed = connectRedis(server.url);
  logConnectionErrors([closed], closed, log);
  await Promise.all([redis.ping(), closed.ping()]);
  const isBetween = new Promise((resolve) => closed.once('reconnecting', resolve));
  await server.kill9();
  await isBetween;
  closed.disconnect();
  await until('the outage', () => said.length > 0 || undefined);
  await server.restart();
  await until('its end', () => said.at(-1) === undefined || undefined);
}, 60_000);

it('an outage of Redis is one line for all connections of a process, and its end is another', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const redis = connectRedis(server.url);
  const trouble = watchRedisTrouble(redis, log);
  const said: (string | undefined)[] = [];
  trouble.watch((reason) => said.push(reason));
  const shared = connectRedis(server.url);
  const workers = [
    ...JOBS.map((job) => ({ job, connection: shared })),
    { job: 'delete-events' as const, connection: connectRedis(server.url) },
  ].map(({ job, connection }) =>
    createJobWorker({
      ...{ redisUrl: server.url, connection, queueName: job, job, log, concurrency: 1 },
      handler: async () => ({ kind: 'done' as const }),
    }),
  );
  const queue = await createWorkQueue(
    server.url,
    {
      'stage-file': 'stage-file-one',
      'stage-slice': 'stage-slice',
      ...Object.fromEntries(JOBS.map((job) => [job, job])),
    } as Parameters<typeof createWorkQueue>[1],
    log,
  );
  onTestFinished(async () => {
    trouble.close();
    await Promise.all([queue.close(), ...workers.map((worker) => worker.close())]);
    redis.disconnect();
    shared.disconnect();
  });

  for (let outages = 1; outages <= 2; outages += 1) {
    const before = said.length;
    await server.kill9();
    await until('the outage', () => lines.length === 2 * outages - 1 || undefined);
    const refused = () => said.slice(before).some((reason) => reason?.includes('ECONNREFUSED'));
    await until('connections that try again', () => refused() || undefined);
    await server.restart();
    await until('the end', () => said.at(-1) === undefined || undefined);
    expect(lines).toEqual(
      Array.from({ length: outages }, () => [
        'Redis cannot be used; waiting for it',
        'Redis can be used again',
      ]).flat(),
    );
  }
}, 120_000);

it('a job that Redis has lost is no outage, and is called what it is', async () => {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const connection = connectRedis(server.url);
  onTestFinished(() => connection.disconnect());
  const worker = new EventEmitter();
  logConnectionErrors([worker], connection, log);
  worker.emit('error', new Error('Missing key for job 7. moveToFinished'));
  expect(lines).toEqual([expect.stringMatching(/^Redis no longer has a job .* queued again/)]);
});
