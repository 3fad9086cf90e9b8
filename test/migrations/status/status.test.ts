import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { createTotalsReader } from '../../../src/migrations/status/status.ts';
import { loadView, watchStatus } from '../../../src/migrations/status/watch.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { partKeys } from '../../../src/state/keys/parts.ts';
import { createMigration } from '../../../src/state/migrations.ts';
import { saveRejects } from '../../../src/state/rejects/rejects.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-progress-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A real staging that remembers which bodies were asked for; the one note that changes aside. */
function createWatchedStaging(): { staging: Staging; gets: string[] } {
  const real = createFolderStaging(folder);
  const gets: string[] = [];
  return {
    gets,
    staging: {
      ...real,
      get(key) {
        if (key !== layout('shop').oldProgress) gets.push(key);
        return real.get(key);
      },
    },
  };
}

const RECORDS = 7;

async function putPart(staging: Staging, number: number): Promise<void> {
  const id = `0123456789ab/${String(number).padStart(5, '0')}`;
  const description = {
    id,
    fileId: '0123456789ab',
    file: 'export.csv',
    number,
    format: { kind: 'json' },
    records: RECORDS,
    bytes: 70,
    sha256: 'a'.repeat(64),
    etag: 'e',
    firstRecord: number * RECORDS,
  };
  await staging.put(
    partKeys(layout('shop').prefix).body({ id, sha256: description.sha256 }),
    Buffer.from('frames'),
  );
  await staging.put(partKeys(layout('shop').prefix).description(id), encodeDocument(description));
}

async function putReceipt(staging: Staging, number: number): Promise<void> {
  const part = `0123456789ab/${String(number).padStart(5, '0')}`;
  const counts = { read: RECORDS, delivered: RECORDS - 1, skipped: 0, duplicate: 0, rejected: 1 };
  const tally = { counts, events: { sent: 6, accepted: 6 }, byDay: {}, byEvent: {}, byReason: {} };
  const rejectSegments = [`shop/rejects/${part}/1-1-7.ndjson.gz`];
  const receipt = { part, file: 'export.csv', mapping: 'csv@1', tally, rejectSegments };
  await staging.put(layout('shop').receipt(part), encodeDocument(receipt));
}

it('adds up parts and receipts, and reads each of them once however often it looks', async () => {
  const { staging, gets } = createWatchedStaging();
  for (let number = 0; number < 20; number += 1) await putPart(staging, number);
  await putReceipt(staging, 0);
  const read = createTotalsReader(staging, { name: 'shop', id: 'one', files: [] });
  expect(await read()).toMatchObject({
    parts: { done: 1, staged: 20 },
    records: { staged: 140 },
    counts: { read: 7, delivered: 6, skipped: 0, duplicate: 0, rejected: 1 },
  });
  expect(gets).toHaveLength(21);

  expect((await read()).parts).toEqual({ done: 1, staged: 20 });
  expect(gets).toHaveLength(21);

  await putPart(staging, 20);
  await putReceipt(staging, 1);
  expect(await read()).toMatchObject({
    parts: { done: 2, staged: 21 },
    records: { staged: 147 },
    counts: { read: 14, rejected: 2 },
  });
  expect(gets).toHaveLength(23);
});

it.each([
  [undefined, ['the record is not JSON (near ada@example.com)', '{"email":"ada@example.com"']],
  [
    { columns: ['email'], key: '${BACKHAUL_HASH_KEY}' },
    ['the record is not JSON', expect.stringContaining('not shown')],
  ],
])('shows no rejected record where personal data is hashed: %j', async (hash, [detail, text]) => {
  const name = hash ? 'hashed' : 'open';
  const staging = createFolderStaging(folder);
  const mapping = {
    event: { constant: 'opened' },
    distinctId: { column: 'email' },
    timestamp: { column: 'at' },
    key: ['id'],
    ...(hash ? { hash } : {}),
  };
  const source = { type: 'jsonl', from: ['x.jsonl'], timezone: 'UTC', mapping };
  await createMigration(staging, {
    id: name,
    name,
    identity: {},
    identitySha256: '',
    mapping: 'jsonl@3',
    destination: 'bundled API',
    files: [],
    createdAt: '2024-04-01T00:00:00Z',
    opening: { manifest: { name, source }, baseDir: folder },
  });
  const part = {
    id: '0123456789ab/00000',
    fileId: '0123456789ab',
    file: 'x.jsonl',
    number: 0,
    format: { kind: 'json' as const },
    records: 1,
    bytes: 0,
    sha256: '',
    etag: '',
    firstRecord: 0,
  };
  const bytes = Buffer.from('{"email":"ada@example.com"');
  const segment = await saveRejects(staging, `${layout(name).rejectsOf(part.id)}1-1-1.ndjson.gz`, {
    part,
    header: undefined,
    records: { get: () => ({ kind: 'record', member: undefined, line: 1, bytes }) },
    notes: [{ record: 0, reason: 'unreadable', detail: 'the record is not JSON (near ada@example.com)' }],
  });
  const counts = { read: 1, delivered: 0, skipped: 0, duplicate: 0, rejected: 1 };
  const byReason = { unreadable: 1 };
  const tally = { counts, events: { sent: 0, accepted: 0 }, byDay: {}, byEvent: {}, byReason };
  const receipt = { part: part.id, file: part.file, mapping: 'jsonl@3', tally, rejectSegments: [segment] };
  await staging.put(layout(name).receipt(part.id), encodeDocument(receipt));

  const store = { staging, now: () => new Date(0), askRedis: async () => undefined };
  const { reasons } = await loadView(store, name);
  expect(reasons).toMatchObject([
    { reason: 'unreadable', samples: [{ place: 'x.jsonl, line 1', detail, text }] },
  ]);
});

it('watches on while Redis does not answer, until somebody can say that nothing runs', async () => {
  const staging = createFolderStaging(join(folder, 'watched'));
  await createMigration(staging, {
    id: 'watched',
    name: 'watched',
    identity: {},
    identitySha256: '',
    mapping: 'segment@3',
    destination: 'bundled API',
    files: [],
    createdAt: '2024-04-01T00:00:00Z',
    opening: {
      manifest: { name: 'watched', source: { type: 'segment', from: ['x.jsonl'] } },
      baseDir: folder,
    },
  });
  const states: string[] = [];
  const store = {
    staging,
    now: () => new Date(),
    askRedis: async () => {
      if (states.length === 0) throw new Error('Redis is away');
      return undefined;
    },
  };
  const { signal } = new AbortController();
  await watchStatus(store, 'watched', {
    signal,
    onStatus: (all) => states.push(...all.map(({ state }) => state)),
  });
  expect(states).toEqual(['unknown', 'interrupted']);
});
