import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { applyEvent } from '../../../src/migrations/life-store.ts';
import { describeTrouble, findWebhookTrouble } from '../../../src/migrations/notify/find-trouble.ts';
import { MAX_ATTEMPTS } from '../../../src/migrations/notify/retries.ts';
import { createTeller } from '../../../src/migrations/notify/tell.ts';
import { addControl } from '../../../src/state/control.ts';
import { createMigration } from '../../../src/state/migrations.ts';
import { addRun } from '../../../src/state/schedules/runs.ts';
import { addSchedule } from '../../../src/state/schedules/schedules.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { type StrictReceiver, startStrictReceiver } from '../../support/strict-receiver.ts';

const START = Date.parse('2024-03-01T12:00:00Z');
const never = new AbortController().signal;

let folder: string;
let staging: Staging;
let nowMs: number;
let logged: string;
let receiver: StrictReceiver;
const now = () => new Date(nowMs);
const pass = (ms: number) => {
  nowMs += ms;
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backhaul-notify-'));
  staging = createFolderStaging(folder);
  nowMs = START;
  logged = '';
  receiver = await startStrictReceiver({ now });
  const files: [] = [];
  const opening = { manifest: {}, baseDir: '/' };
  const more = { identity: {}, identitySha256: '', mapping: 'jsonl@1', createdAt: now().toISOString() };
  await createMigration(staging, {
    id: 'id-1',
    name: 'shop',
    destination: 'https://d',
    files,
    opening,
    ...more,
  });
});
afterEach(async () => {
  await receiver.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What a process of its own knows. */
function createProcess(url = receiver.url) {
  const write = (text: string) => {
    logged += text;
  };
  const log = pino({ level: 'debug' }, { write });
  const store = { staging, now, log, askRedis: async () => undefined };
  return createTeller(store, { url, secret: receiver.secret, allowPrivate: true });
}
const tellAll = () => createProcess().tellAll(never);
let number = 0;
beforeEach(() => {
  number = 0;
});
const enter = async (state: 'running' | 'stopped' | 'paused' | 'removed', reason = '') => {
  number += 1;
  expect(
    await addControl(staging, 'shop', { number, control: { state, reason, at: now().toISOString() } }),
  ).toBe(true);
};
const told = () => receiver.messages.map(({ id, type }) => `${id} ${type}`);

describe('the webhook', () => {
  it('is told of every state once, by whichever process comes next', async () => {
    await tellAll();
    await enter('running');
    await enter('paused', 'the key is refused');
    // The process that entered the states was killed before it told anybody.
    await tellAll();
    expect(told()).toEqual(['id-1_1 migration.started', 'id-1_2 migration.paused']);
    expect(receiver.messages[1]).toMatchObject({
      text: 'Migration shop to https://d is paused (the key is refused)',
      data: { migration: 'shop', state: 'paused', number: 2 },
    });
    const process = createProcess();
    for (let looks = 0; looks < 3; looks += 1) await process.tellAll(never);
    expect(receiver.arrivals).toHaveLength(2);
    expect(receiver.complaints).toEqual([]);
  });

  it('is told again where a process was killed between the answer and its note, under the same id', async () => {
    await tellAll();
    await enter('running');
    const { create } = staging;
    const killed = {
      ...staging,
      create: async (key: string, body: Uint8Array) => key.includes('/notices/') || create(key, body),
    };
    const store = { staging: killed, now, log: pino({ level: 'silent' }), askRedis: async () => undefined };
    await createTeller(store, { url: receiver.url, secret: receiver.secret, allowPrivate: true }).tellAll(
      never,
    );
    await tellAll();
    expect(receiver.arrivals).toEqual(['id-1_1', 'id-1_1']);
    expect(told()).toEqual(['id-1_1 migration.started']);
  });

  it('is told by one of several processes that share a Redis', async () => {
    await tellAll();
    await enter('running');
    const taken = new Set<string>();
    const redis = {
      async set(key: string) {
        if (taken.has(key)) return null;
        taken.add(key);
        return 'OK';
      },
    };
    const askRedis = async <T>(ask: (redis: never) => Promise<T>) => ask(redis as never);
    const store = { staging, now, log: pino({ level: 'silent' }), askRedis };
    const webhook = { url: receiver.url, secret: receiver.secret, allowPrivate: true };
    await Promise.all([1, 2, 3].map(() => createTeller(store, webhook).tellAll(never)));
    expect(receiver.arrivals).toEqual(['id-1_1']);
  });

  it('is not told of what was before it was used, or is no news, or of a removal', async () => {
    await enter('running');
    pass(1_000);
    await tellAll();
    pass(1_000);
    await enter('paused');
    await enter('removed');
    pass(4 * 24 * 3_600_000);
    await enter('running');
    await tellAll();
    await tellAll();
    expect(told()).toEqual(['id-1_4 migration.continued']);
  });

  it('that fails is told again, later and later, and others are told meanwhile', async () => {
    await tellAll();
    receiver.answerWith((response) => response.writeHead(500).end(receiver.secret));
    await enter('running');
    await tellAll();
    await tellAll();
    expect(receiver.arrivals).toHaveLength(1);
    pass(5_000);
    await tellAll();
    expect(receiver.arrivals).toHaveLength(2);
    const trouble = await findWebhookTrouble(staging, 'shop');
    expect(trouble).toMatchObject({
      reason: 'HTTP 500',
      attempts: 2,
      isGivenUp: false,
      next: '2024-03-01T12:00:35.000Z',
    });
    expect(trouble && describeTrouble(trouble)).toContain(
      'HTTP 500 (attempt 2 of 8 at 2024-03-01T12:00:05.000Z; the next is due at 2024-03-01T12:00:35.000Z, by',
    );

    receiver.answerWith(undefined);
    await enter('paused');
    await tellAll();
    expect(told()).toEqual(['id-1_2 migration.paused']);
    expect(await findWebhookTrouble(staging, 'shop')).toBeUndefined();
    pass(30_000);
    await tellAll();
    expect(told()).toEqual(['id-1_2 migration.paused', 'id-1_1 migration.started']);
  });

  it('is given up in the end, and nothing that is kept or logged holds the secret or the address', async () => {
    await tellAll();
    receiver.answerWith((response) => response.writeHead(500).end(receiver.secret));
    await enter('running');
    for (let attempt = 0; attempt < MAX_ATTEMPTS + 3; attempt += 1) {
      await tellAll();
      pass(7 * 3_600_000);
    }
    expect(receiver.arrivals).toHaveLength(MAX_ATTEMPTS);
    expect(await findWebhookTrouble(staging, 'shop')).toMatchObject({ isGivenUp: true });
    let kept = logged;
    for await (const { key } of staging.list('')) kept += `${key} ${(await staging.get(key))?.toString()}`;
    expect(logged).toContain('HTTP 500');
    for (const secret of ['T0PS3CRET', receiver.secret, receiver.secret.slice(6, 20)])
      expect(kept).not.toContain(secret);
  });

  it('is told of what a damaged neighbour does not hide, and of runs of schedules', async () => {
    await tellAll();
    await enter('running');
    await staging.put('_migrations/broken.json', Buffer.from('{}'));
    await staging.put('broken/control/00000001.json', Buffer.from('{}'));
    const terms = { cron: '0 6 * * *', timezone: 'UTC', lagMinutes: 1, manifest: {}, baseDir: '/' };
    const at = now().toISOString();
    await addSchedule(staging, 'shop', { number: 1, schedule: { state: 'active', at, since: at, ...terms } });
    const run = { due: at, startedAt: at, endedAt: at, outcome: 'done', reason: '', files: 1 } as const;
    await addRun(staging, 'shop', { number: 1, run: { ...run, missed: 0, failures: 0 } });
    await addRun(staging, 'shop', { number: 2, run: { ...run, missed: 2, failures: 0 } });
    await tellAll();
    await tellAll();
    expect(receiver.messages.map(({ type }) => type).sort()).toEqual([
      'migration.started',
      'schedule.missed',
    ]);
    expect(receiver.arrivals).toHaveLength(2);
  });

  it('tells a state that the lifecycle entered', async () => {
    await tellAll();
    await enter('running');
    await applyEvent(
      staging,
      { id: 'id-1', name: 'shop' },
      { kind: 'pause' },
      { reason: 'lunch', at: now().toISOString() },
    );
    await createProcess().tellMigration('shop', never);
    expect(told()).toEqual(['id-1_1 migration.started', 'id-1_2 migration.paused']);
  });
});
