import { Queue, QueueEvents } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { QUEUE_PREFIX, stageQueue } from '../../jobs/catalog.ts';
import { createDashboard, type Dashboard } from '../../jobs/dashboard.ts';
import { createJobWorker } from '../../jobs/worker.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { silent } from '../support/silent.ts';
import { until } from '../support/until.ts';

const NAME = stageQueue('0f0f');
let server: TestRedis;
let dashboard: Dashboard;
let queue: Queue | undefined;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  redis = new Redis(server.url);
  dashboard = createDashboard({ redisUrl: server.url, admit: () => 'viewer', log: silent });
});
afterAll(async () => {
  await queue?.close();
  await dashboard.close();
  redis.disconnect();
  await server.stop();
});

interface Shown {
  readonly name: string;
  readonly displayName: string;
  readonly readOnlyMode: boolean;
  readonly jobs: readonly { readonly name: string; readonly progress: unknown }[];
}
const get = async (path: string) => (await dashboard.routes.request(`/queues/api/queues${path}`)).json();
const list = async (): Promise<readonly Shown[]> =>
  ((await get(`?activeQueue=${NAME}&status=latest`)) as { queues: readonly Shown[] }).queues;

it('is found at its address with a slash, too', async () => {
  const answer = await dashboard.routes.request('/queues/');
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/queues']);
});

it('shows what a producer stages while it does, with progress and metrics, and leaves nothing behind', async () => {
  expect((await list()).map(({ name }) => name)).not.toContain(NAME);
  // It is listed from its first key on, which this writes.
  const opened = new Queue(NAME, { connection: { url: server.url }, prefix: QUEUE_PREFIX });
  queue = opened;
  const payload = { migration: 'shop', id: 'shop', epoch: 1, fileId: 'f', packing: 'none' };
  const { id = '' } = await opened.add('stage-file', payload);
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const worker = createJobWorker({
    redisUrl: server.url,
    queueName: NAME,
    job: 'stage-file',
    concurrency: 1,
    log: silent,
    async handler(_, { progress }) {
      progress({ records: 1_234 });
      await finished;
      return { kind: 'done' };
    },
  });
  const shown = await until('its progress', async () => {
    const one = (await list()).find(({ name }) => name === NAME);
    return one?.jobs[0]?.progress === '1,234 records' ? one : undefined;
  });
  expect(shown).toMatchObject({ displayName: 'stage-file · shop', readOnlyMode: true });

  const events = new QueueEvents(NAME, { connection: { url: server.url }, prefix: QUEUE_PREFIX });
  await events.waitUntilReady();
  finish();
  await (await opened.getJob(id))?.waitUntilFinished(events);
  expect(await get(`/${NAME}/metrics`)).toMatchObject({ completed: { meta: { count: 1 } } });
  await events.close();
  await worker.close();

  await opened.obliterate({ force: true });
  await until('the end of the queue', async () =>
    (await list()).every(({ name }) => name !== NAME) ? true : undefined,
  );
  expect(await redis.keys(`*${NAME}*`)).toEqual([]);
});
