import { getEventListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseStoredManifest } from '../../../config/manifest/load-manifest.ts';
import type { Staging } from '../../../src/contract/staging.ts';
import { ConfigError } from '../../../src/lib/errors.ts';
import { setSchedule } from '../../../src/migrations/schedule/schedules.ts';
import { buildApi, declareRoutes } from '../../../src/server/app.ts';
import type { Db } from '../../../src/server/database/db.ts';
import { createFormToken, listActions } from '../../../src/server/operations/actions.ts';
import type { OperationsDeps } from '../../../src/server/operations/routes.ts';
import { loadControl } from '../../../src/state/control.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { createMigration } from '../../../src/state/migrations.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { parseExposition } from '../../support/exposition.ts';
import { saveControl } from '../../support/save-control.ts';
import { silent } from '../../support/silent.ts';

const NAME = 'shop';
let folder: string;
let staging: Staging;
let app: Hono;
let started: (readonly string[])[] = [];
let fails: Record<string, boolean> = {};

/** No page asks the database. */
const noDatabase = { kind: 'pglite', watch: () => () => 0 } as unknown as Db;

const createDeps = (): OperationsDeps => ({
  store: { staging, now: () => new Date('2024-05-01T00:00:00Z'), askRedis: async () => undefined },
  credentials: { user: 'ada', password: 'look', adminPassword: 'act' },
  producers: {
    async start(args) {
      started.push(args);
      if (args.includes('other')) return { kind: 'ended', code: 2, said: 'the variable KEY is not set' };
      return { kind: 'running', migration: args[0] === 'rejects' ? `${NAME}-replay-1` : NAME };
    },
    close: async () => {},
  },
  assertKeys: async (name) => {
    if (name === 'keyless') throw new ConfigError('the variable API_KEY is not set');
  },
  countJobs: async () => [{ queue: 'import-part', waiting: 3, active: 2, failed: 0 }],
  checks: {
    redis: async () => {
      if (fails['redis']) throw new Error('redis://:secret@10.0.0.1 is away');
    },
    staging: async () => {},
  },
  closing: new AbortController().signal,
});

async function addMigration(
  name: string,
  { id = name, createdAt = '2024-04-01T00:00:00Z' } = {},
): Promise<void> {
  const opening = {
    manifest: {
      name,
      source: { type: 'segment', from: ['x.jsonl'] },
      limits: { eventsPerMinute: 500 },
    },
    baseDir: folder,
  };
  await createMigration(staging, {
    id,
    name,
    identity: {},
    identitySha256: '',
    mapping: 'segment@3',
    destination: 'bundled API',
    files: [{ fileId: 'aaaaaaaaaaaa', name: 'x.jsonl', bytes: 12, modified: '' }],
    createdAt,
    opening,
  });
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-operations-'));
  staging = createFolderStaging(folder);
  for (const name of [NAME, 'other', 'keyless']) await addMigration(name);
  app = buildApi({ db: noDatabase, log: silent, operations: createDeps() });
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const basic = (password: string) => `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
const get = (path: string, password = 'look') =>
  app.request(path, { headers: { authorization: basic(password) } });
const post = (
  path: string,
  { password = 'act', token = createFormToken('act', NAME), site = 'same-origin', origin = '' } = {},
) =>
  app.request(path, {
    method: 'POST',
    headers: {
      authorization: basic(password),
      'content-type': 'application/x-www-form-urlencoded',
      host: 'localhost',
      ...(site ? { 'sec-fetch-site': site } : {}),
      ...(origin ? { origin } : {}),
    },
    body: new URLSearchParams({ token }).toString(),
  });
const set = (state: 'paused' | 'running' | 'finished', reason = '') =>
  saveControl(staging, NAME, { state, reason, at: '2024-05-01T00:00:00Z' });

describe('who may open what', () => {
  const ROLES = {
    'GET /': 'viewer',
    'GET /operations/live': 'viewer',
    'GET /operations/live.js': 'viewer',
    'GET /operations/sign-in': 'viewer',
    'GET /migrations/:name': 'viewer',
    'GET /migrations/:name/live': 'viewer',
    'GET /migrations/:name/coverage': 'viewer',
    'POST /migrations/:name/:action': 'operator',
    'GET /metrics': 'viewer',
    'GET /queue-depth': 'viewer',
  };

  it('is declared for each route, and for no other', () => {
    const { access } = declareRoutes({ db: noDatabase, log: silent, operations: createDeps() });
    const roles = [...access].flatMap(([route, entry]) => ('role' in entry ? [[route, entry.role]] : []));
    expect(Object.fromEntries(roles)).toEqual(ROLES);
    expect(access.get('GET /readyz')).toHaveProperty('public');
  });

  it.each(Object.keys(ROLES))('%s: nobody without a password', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const to = path.replace(':name', NAME).replace(':action', 'pause');
    for (const headers of [{}, { authorization: basic('wrong') }, { authorization: 'Bearer act' }]) {
      const response = await app.request(to, { method, headers });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        expect.stringContaining('Basic'),
      ]);
    }
  });

  it('closes a route that is not declared', async () => {
    const routes = declareRoutes({ db: noDatabase, log: silent, operations: createDeps() });
    routes.app.get('/operations/undeclared', (c) => c.text('open'));
    const headers = { authorization: basic('act') };
    expect((await routes.app.request('/operations/undeclared', { headers })).status).toBe(403);
  });

  it('lets viewers look and operators act', async () => {
    expect((await post(`/migrations/${NAME}/pause`, { password: 'look' })).status).toBe(403);
    expect((await get('/operations/sign-in')).status).toBe(401);
    const signedIn = await get(`/operations/sign-in?to=${NAME}`, 'act');
    expect(signedIn.headers.get('location')).toBe(`/migrations/${NAME}`);
    const away = await get('/operations/sign-in?to=//evil.example', 'act');
    expect(away.headers.get('location')).toBe('/');
    expect(await (await get(`/migrations/${NAME}`)).text()).not.toContain('<form');
    expect(await (await get(`/migrations/${NAME}`, 'act')).text()).toContain('<form');
  });
});

describe('the pages', () => {
  it('have a strict policy, no style attribute and no inline script', async () => {
    for (const path of ['/', `/migrations/${NAME}`, `/migrations/${NAME}/coverage`]) {
      const response = await get(path, 'act');
      const text = await response.text();
      expect(response.status).toBe(200);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(text).not.toMatch(/ style=| on\w+=|<script>/);
      expect(text).toContain(`href="/migrations/${NAME}"`.slice(0, path === '/' ? undefined : 0));
    }
  });

  it('escape what staging holds', async () => {
    await set('paused', '<img src=x onerror=alert(1)>');
    const text = await (await get(`/migrations/${NAME}`)).text();
    expect(text).toContain('&lt;img');
    expect(text).not.toContain('<img');
  });

  it('say that there is no such migration', async () => {
    const token = createFormToken('act', 'none');
    const ask = [
      () => get('/migrations/none'),
      () => get('/migrations/none/live'),
      () => get('/migrations/none/coverage'),
      () => get('/migrations/..%2F..%2Fnone/live'),
      () => post('/migrations/none/pause', { token }),
    ];
    for (const respond of ask) {
      const response = await respond();
      expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('none"')]);
    }
  });

  it('are read by people, also where there is none', async () => {
    const response = await app.request('/migrations/none', {
      headers: { authorization: basic('look'), accept: 'text/html,*/*;q=0.8' },
    });
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toContain('text/html');
    const text = await response.text();
    expect(text).toContain('name="viewport"');
    expect(text).toContain('there is no migration &quot;none&quot;');
  });

  it('show the migration that has the name of a forgotten one by now', async () => {
    const name = 'again';
    const readPage = async () => (await get(`/migrations/${name}`)).text();
    await addMigration(name, { id: 'first' });
    expect(await readPage()).toContain('2024-04-01 00:00:00');
    await staging.remove(layout(name).record);
    await addMigration(name, { id: 'second', createdAt: '2025-01-02T03:04:05Z' });
    expect(await readPage()).toContain('2025-01-02 03:04:05');
  });

  it('list the others where one is forgotten this very moment', async () => {
    async function* list(prefix: string) {
      yield* staging.list(prefix);
      if (layout('gone').record.startsWith(prefix)) yield { key: layout('gone').record, bytes: 2 };
    }
    const deps = createDeps();
    const store = { ...deps.store, staging: { ...staging, list } };
    const own = buildApi({ db: noDatabase, log: silent, operations: { ...deps, store } });
    const response = await own.request('/', { headers: { authorization: basic('look') } });
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining(NAME)]);
  });

  it('load themselves again at their own address, also in answer to a form', async () => {
    await set('paused');
    const text = await (await post(`/migrations/${NAME}/pause`)).text();
    expect(text).toContain(`;url=/migrations/${NAME}"`);
  });

  it('leave nothing behind when a reader leaves, and end when the server does', async () => {
    const closing = new AbortController();
    const own = buildApi({
      db: noDatabase,
      log: silent,
      operations: { ...createDeps(), closing: closing.signal },
    });
    const open = async () => {
      const { body } = await own.request('/operations/live', { headers: { authorization: basic('look') } });
      const reader = body?.getReader();
      await reader?.read();
      return reader;
    };
    const first = await open();
    expect(getEventListeners(closing.signal, 'abort')).toHaveLength(1);
    await first?.cancel();
    expect(getEventListeners(closing.signal, 'abort')).toHaveLength(0);
    const second = await open();
    closing.abort();
    expect(await second?.read()).toMatchObject({ done: true });
    const late = await own.request('/operations/live', { headers: { authorization: basic('look') } });
    expect(await late.text()).toBe('');
  });

  it('send what has changed as it changes', async () => {
    await set('paused', 'first');
    const response = await get(`/migrations/${NAME}/live`);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const readPart = async () => JSON.parse(((await reader?.read())?.value ?? '').replace(/^data: /, ''));
    expect(Object.keys(await readPart())).toContain('figures');
    await set('paused', 'second');
    const changed = await readPart();
    expect(changed['state']).toContain('second');
    expect(Object.keys(changed).sort()).toEqual(['history', 'state']);
    await reader?.cancel();
  });
});

describe('actions', () => {
  it('pause, and say why nothing can be paused any more', async () => {
    await set('running');
    const response = await post(`/migrations/${NAME}/pause`);
    expect([response.status, response.headers.get('location')]).toEqual([303, `/migrations/${NAME}`]);
    expect(await loadControl(staging, NAME)).toMatchObject({ state: 'paused' });
    const again = await post(`/migrations/${NAME}/pause`);
    expect([again.status, await again.text()]).toEqual([409, expect.stringContaining('nothing to pause')]);
  });

  it.each([
    [{ site: 'cross-site' }, 'another site'],
    [{ site: 'same-site' }, 'another site'],
    [{ site: '' }, 'another site'],
    [{ site: '', origin: 'https://evil.example' }, 'another site'],
    [{ token: 'wrong' }, 'Load it again'],
    [{ token: 'é'.repeat(createFormToken('act', NAME).length) }, 'Load it again'],
    [{ token: createFormToken('act', 'other') }, 'Load it again'],
  ])('refuse a form that is not our own: %j', async (forged, why) => {
    await set('running');
    const response = await post(`/migrations/${NAME}/cancel`, forged);
    expect([response.status, await response.text()]).toEqual([403, expect.stringContaining(why)]);
    expect(await loadControl(staging, NAME)).toMatchObject({ state: 'running' });
  });

  it('resume by a process of its own, and show why it cannot', async () => {
    started = [];
    await set('paused');
    expect((await post(`/migrations/${NAME}/resume`, { site: '', origin: 'http://localhost' })).status).toBe(
      303,
    );
    const other = await post('/migrations/other/resume', { token: createFormToken('act', 'other') });
    expect([other.status, await other.text()]).toEqual([409, expect.stringContaining('KEY is not set')]);
    const keyless = await post('/migrations/keyless/resume', { token: createFormToken('act', 'keyless') });
    expect([keyless.status, await keyless.text()]).toEqual([
      409,
      expect.stringContaining('API_KEY is not set. That is the environment of the server'),
    ]);
    expect(started).toEqual([
      ['resume', NAME],
      ['resume', 'other'],
    ]);
  });

  it('are those that the state allows', () => {
    const counts = { read: 5, delivered: 4, skipped: 0, duplicate: 0, rejected: 1 };
    expect(listActions({ state: 'running', counts })).toEqual(['pause', 'cancel']);
    expect(listActions({ state: 'paused', counts })).toEqual(['resume', 'cancel']);
    expect(listActions({ state: 'finished', counts })).toEqual(['replay']);
    expect(listActions({ state: 'finished', counts: { ...counts, rejected: 0 } })).toEqual([]);
    const replayed = { replays: [], left: 0 };
    expect(listActions({ state: 'finished', counts, replayed })).toEqual([]);
    expect(listActions({ state: 'removed', counts })).toEqual([]);
  });
});

it('a damaged migration is shown as such, and hides no other', async () => {
  const key = layout('other').record;
  const whole = await staging.get(key);
  if (!whole) throw new Error('there is no such migration');
  await staging.put(key, whole.subarray(0, 20));
  try {
    const list = await (await get('/')).text();
    expect(list).toContain(`href="/migrations/${NAME}"`);
    expect(list).toContain(`${key} is not what Backhaul wrote there`);
    const states = parseExposition(await (await get('/metrics')).text()).get('backhaul_migration_state');
    expect(states?.samples).toContainEqual({ labels: { migration: 'other', state: 'damaged' }, value: 1 });
    const page = await get('/migrations/other');
    expect([page.status, await page.text()]).toEqual([500, expect.stringContaining('is not what Backhaul')]);
  } finally {
    await staging.put(key, whole);
  }
  expect(await (await get('/')).text()).not.toContain('badge damaged');
});

it('schedules are on the first page and among the metrics', async () => {
  const now = () => new Date('2024-05-01T00:00:00Z');
  const manifest = parseStoredManifest(
    { name: NAME, source: { type: 'segment', from: ['x.jsonl'] } },
    'a test',
  );
  const terms = { cron: '0 6 * * *', timezone: 'UTC', lagMinutes: 1 };
  await setSchedule({ staging, now }, { manifest, baseDir: folder }, terms);
  const page = await (await get('/')).text();
  expect(page).toContain(`href="/migrations/${NAME}/coverage"`);
  expect(page).toContain('2024-05-01 06:00:00');
  const next = parseExposition(await (await get('/metrics')).text()).get(
    'backhaul_schedule_next_run_timestamp_seconds',
  );
  expect(next?.samples).toEqual([
    { labels: { migration: NAME }, value: Date.parse('2024-05-01T06:00:00Z') / 1_000 },
  ]);
  const coverage = await (await get(`/migrations/${NAME}/coverage`)).text();
  expect(coverage).toContain('Nothing is imported yet');
  expect(coverage).not.toMatch(/<script|data-live|http-equiv="refresh"/);
});

describe('numbers for machines', () => {
  it('are in the text format of Prometheus', async () => {
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const metrics = parseExposition(await response.text());
    expect(metrics.get('backhaul_migration_source_bytes')).toEqual({
      type: 'gauge',
      samples: expect.arrayContaining([{ labels: { migration: NAME }, value: 12 }]),
    });
    expect(metrics.get('backhaul_queue_jobs')?.samples).toContainEqual({
      labels: { queue: 'import-part', state: 'waiting' },
      value: 3,
    });
    for (const [name, { type }] of metrics) expect(name.endsWith('_total')).toBe(type === 'counter');
  });

  it('count jobs for autoscalers', async () => {
    expect(await (await get('/queue-depth')).json()).toMatchObject({ open: 5, waiting: 3, active: 2 });
  });

  it('say which part is away, and nothing of its address', async () => {
    expect((await app.request('/readyz')).status).toBe(200);
    fails = { redis: true };
    const response = await app.request('/readyz');
    fails = {};
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'unavailable', checks: { redis: 'unavailable', staging: 'ok' } },
    ]);
  });
});
