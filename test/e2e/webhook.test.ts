import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { killAllBackhaul, runBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { line } from '../support/migration-lab.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type StrictDestination, startStrictDestination } from '../support/strict-destination.ts';
import { type StrictReceiver, startStrictReceiver } from '../support/strict-receiver.ts';
import { until } from '../support/until.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

const KEY = 'phc_webhook';

let workplace: Workplace;
let server: TestRedis;
let destination: StrictDestination;
let receiver: StrictReceiver;
beforeAll(async () => {
  workplace = createWorkplace();
  server = await startRedis();
  destination = await startStrictDestination({ apiKey: KEY });
  receiver = await startStrictReceiver();
}, 300_000);
afterEach(killAllBackhaul);
afterAll(async () => {
  await receiver?.stop();
  await destination?.stop();
  await server?.stop();
  await workplace?.remove();
});

it('a webhook that fails stops nothing, status says so, and the next process tells it', async () => {
  const dataDir = workplace.dataDir('webhook');
  const env = {
    KEY,
    REDIS_URL: server.url,
    BACKHAUL_WEBHOOK_URL: receiver.url,
    BACKHAUL_WEBHOOK_SECRET: receiver.secret,
    BACKHAUL_WEBHOOK_ALLOW_PRIVATE: 'true',
  };
  mkdirSync(join(workplace.folder, 'told'));
  writeFileSync(join(workplace.folder, 'told/a.json'), `${line('w-1')}\n${line('w-2', 'yesterday')}\n`);
  const path = workplace.manifest({
    name: 'told',
    source: {
      type: 'jsonl',
      from: 'told/*.json',
      mapping: {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: 't' },
        key: ['n'],
      },
    },
    destination: { url: destination.url, apiKey: '${KEY}' },
  });
  receiver.answerWith((response) => response.writeHead(503).end());
  const ran = await runBackhaul(['run', path], { dataDir, env });
  expect(ran.code, ran.stderr).toBe(3); // one of two records is rejected
  expect(ran.stderr + ran.stdout).not.toContain('T0PS3CRET');
  const status = await runBackhaul(['status', 'told'], { dataDir, env });
  expect(status.stdout).toMatch(/told: finished[\s\S]*the webhook could not be told of this: HTTP 503/);

  receiver.answerWith(undefined);
  const worker = startBackhaul(['worker'], { dataDir, env });
  await until('both states', () => {
    if (!worker.isRunning()) throw new Error(worker.stderr());
    return receiver.messages.length === 2 || undefined;
  });
  expect(receiver.messages.map(({ type }) => type).sort()).toEqual([
    'migration.rejects_above_threshold',
    'migration.started',
  ]);
  expect(receiver.messages.map(({ data }) => data['counts'])).toContainEqual(
    expect.objectContaining({ read: 2, delivered: 1, rejected: 1 }),
  );
  expect(receiver.complaints).toEqual([]);
  await until('that status knows', async () => {
    const again = await runBackhaul(['status', 'told', '--json'], { dataDir, env });
    return 'webhook' in JSON.parse(again.stdout) ? undefined : true;
  });
}, 120_000);
