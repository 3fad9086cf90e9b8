import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { killAllBackhaul, startBackhaul, waitForServices } from '../support/backhaul-process.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

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
