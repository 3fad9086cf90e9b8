import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { QUEUE_PREFIX } from '../../jobs/catalog.ts';
import { killAllBackhaul, parseReport, startBackhaul, waitForServices } from '../support/backhaul-process.ts';
import { startRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

const MAPPING = { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } };

let workplace: Workplace;
beforeAll(() => {
  workplace = createWorkplace();
}, 300_000);
afterEach(killAllBackhaul);
afterAll(() => workplace?.remove());

it('a worker ends with 5 and a message when the process that runs Redis and the API has died', async () => {
  const dataDir = await workplace.readyDataDir('worker');
  const serve = startBackhaul(['serve'], { dataDir });
  await waitForServices(dataDir, serve);
  const worker = startBackhaul(['worker'], { dataDir });
  await until('the worker to join', () => worker.stderr().includes('Ctrl-C hands them back') || undefined);
  serve.kill('SIGKILL');
  const ended = await worker.ended;
  expect(ended.code, ended.stderr).toBe(5);
  expect(ended.stderr).toContain(`Process ${serve.pid}`);
  expect(ended.stderr).toContain('backhaul worker');
}, 120_000);

it('a worker hands its jobs back where looking for the bundled API fails', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const queue = new Queue('import-part', { connection: { url: redis.url }, prefix: QUEUE_PREFIX });
  onTestFinished(() => queue.close());
  const dataDir = workplace.dataDir('looking');
  const env = { REDIS_URL: redis.url, KEY: 'phc_worker' };
  const worker = startBackhaul(['worker'], { dataDir, env });
  await until('the worker to join', () => worker.stderr().includes('Ctrl-C hands them back') || undefined);
  const manifest = workplace.manifest({
    name: 'looking',
    source: { type: 'jsonl', from: ['looking.jsonl'], mapping: MAPPING },
    // Its jobs wait for it.
    destination: { url: 'http://127.0.0.1:9', apiKey: '${KEY}' },
  });
  writeFileSync(
    join(workplace.folder, 'looking.jsonl'),
    '{"e":"Seen","u":"ann","t":"2024-01-01T00:00:00Z"}\n',
  );
  startBackhaul(['run', '--json', '--produce-only', manifest], { dataDir, env });
  await until('the worker to take the part', async () => (await queue.getActiveCount()) || undefined);
  writeFileSync(join(dataDir, 'owner.1.lock'), 'not a lock');
  const ended = await worker.ended;
  expect(ended).toMatchObject({ code: 2, stderr: expect.stringContaining('owner.1.lock is damaged') });
  expect(await queue.getJobCounts('active', 'waiting', 'prioritized')).toMatchObject({ active: 0 });
  expect(await queue.count()).toBe(1);
}, 180_000);

it('a worker that was started before the bundled API imports for it, and outlives it', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const dataDir = await workplace.readyDataDir('early');
  const env = { REDIS_URL: redis.url };
  const worker = startBackhaul(['worker'], { dataDir, env });
  const countJoins = () => worker.stderr().split('Ctrl-C hands them back').length - 1;
  await until('the worker to join', () => countJoins() === 1 || undefined);
  const serve = startBackhaul(['serve'], { dataDir, env });
  await waitForServices(dataDir, serve);
  const manifest = workplace.manifest({
    name: 'early',
    source: { type: 'jsonl', from: ['early.jsonl'], mapping: MAPPING },
  });
  writeFileSync(join(workplace.folder, 'early.jsonl'), '{"e":"Seen","u":"ann","t":"2024-01-01T00:00:00Z"}\n');
  const run = startBackhaul(['run', '--json', '--produce-only', manifest], { dataDir, env });
  expect(parseReport(await run.ended).counts).toMatchObject({ read: 1, delivered: 1 });
  expect(countJoins()).toBe(2);

  serve.kill('SIGTERM');
  await serve.ended;
  await until('the worker to join without it', () => countJoins() === 3 || undefined);
  worker.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ code: 0 });
}, 180_000);
