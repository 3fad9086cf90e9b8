import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Staging } from '../../src/contract/staging.ts';
import { FencedOutError } from '../../src/lib/errors.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { encodeDocument } from '../../src/state/document.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { parsePartOfFindings } from '../../src/state/keys/segments.ts';
import { createMigration } from '../../src/state/migrations.ts';
import { createPartStore, leaveNothingOfRemoved, type PartStore } from '../../src/state/part-store.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';
import { saveControl } from '../support/save-control.ts';
import { toWritable } from './facts/lines.ts';

let folder: string;
let staging: Staging;
const at = '2024-02-03T04:05:06Z';
const mapping = { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } };
const manifest = { name: 'shop', source: { type: 'jsonl', from: '*.json', mapping } };
const record = (id: string) => ({
  id,
  name: 'shop',
  identity: {},
  identitySha256: '',
  mapping: 'jsonl@1',
  destination: 'http://service.test',
  files: [],
  createdAt: at,
  opening: { manifest, baseDir: '/' },
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-removed-'));
  staging = createFolderStaging(folder);
  await createMigration(staging, record('1'));
  await saveControl(staging, 'shop', { state: 'cancelled', reason: '', at });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const SEGMENT = '0ee979ade56b/00000/1-1-2';
const writes: Readonly<Record<string, (store: PartStore) => Promise<{ readonly key: string }>>> = {
  rejects: (store) =>
    store.saveRejects(SEGMENT, {
      part: {} as never,
      header: Buffer.from('email\n'),
      records: {} as never,
      notes: [],
    }),
  facts: (store) => store.saveFacts(SEGMENT, toWritable([{ kind: 'user', id: 'anna' }])),
  fingerprints: (store) =>
    store.saveFingerprints(SEGMENT, { body: Buffer.alloc(24), rows: 1, names: [], sections: [] } as never),
};
const what = Object.keys(writes);
const write = (kind: string, store: PartStore) => writes[kind]?.(store) ?? Promise.reject(new Error(kind));

/** Sleeps in every write until that has been done meanwhile. */
function openStore(
  meanwhile: () => Promise<unknown>,
  one: Parameters<typeof createPartStore>[1] = { name: 'shop', id: '1' },
): PartStore {
  const sleepy: Staging = {
    ...staging,
    async put(key, body) {
      await meanwhile();
      return staging.put(key, body);
    },
  };
  return leaveNothingOfRemoved(createPartStore(sleepy, one), sleepy, one);
}

const remove = (forget: boolean) => {
  const askRedis = () => Promise.reject(new Error('there is no Redis'));
  const resolveLedger = () => ({ id: 'a', secret: '' });
  return removeMigration({ staging, now: () => new Date(at), askRedis }, 'shop', { forget, resolveLedger });
};

async function listLeft(): Promise<string[]> {
  const { rejects, allFindings, allFingerprints } = layout('shop');
  const left: string[] = [];
  for (const prefix of [rejects, allFindings, allFingerprints])
    for await (const { key } of staging.list(prefix)) left.push(key);
  return left;
}

it.each(what)('keeps %s of a migration that is there', async (kind) => {
  const { key } = await write(
    kind,
    openStore(async () => {}),
  );
  expect(await listLeft()).toEqual([key]);
});

it.each(what)('keeps %s of one that comes back from another place meanwhile', async (kind) => {
  const comeBack = async () => {
    await staging.remove(layout('shop').record);
    await saveControl(staging, 'shop', { state: 'importing', reason: '', at });
  };
  const { key } = await write(kind, openStore(comeBack));
  expect(await listLeft()).toEqual([key]);
});

it.each(what)('leaves no %s of one that was removed meanwhile', async (kind) => {
  await expect(
    write(
      kind,
      openStore(() => remove(false)),
    ),
  ).rejects.toThrow(FencedOutError);
  expect(await listLeft()).toEqual([]);
});

it.each(what)(
  'leaves no %s of one that was forgotten meanwhile, also where another has its name',
  async (kind) => {
    const again = async () => {
      await remove(true);
      await createMigration(staging, record('2'));
      await saveControl(staging, 'shop', { state: 'running', reason: '', at });
    };
    await expect(write(kind, openStore(again))).rejects.toThrow(FencedOutError);
    expect(await listLeft()).toEqual([]);
  },
);

it.each(what)('leaves no %s of one whose name an earlier version gave to another meanwhile', async (kind) => {
  const again = async () => {
    await remove(true);
    await createMigration(staging, record('2'));
    // Earlier versions did not say of which migration a state is.
    await staging.put(layout('shop').control(1), encodeDocument({ state: 'running', reason: '', at }));
  };
  await expect(write(kind, openStore(again))).rejects.toThrow(FencedOutError);
  expect(await listLeft()).toEqual([]);
});

it.each(what)('replaces no %s of another one that has its name by now', async (kind) => {
  const migration = (id: string) => ({ name: 'shop', id, partsById: true }) as const;
  const other = createPartStore(staging, migration('22222222-2222'));
  let kept: Buffer | undefined;
  let key = '';
  const again = async () => {
    await remove(true);
    await createMigration(staging, record('22222222-2222'));
    await saveControl(staging, 'shop', { state: 'running', reason: '', at });
    ({ key } = await write(kind, other));
    kept = await staging.get(key);
  };
  const sleepy = openStore(again, { ...migration('11111111-1111') });
  await expect(write(kind, sleepy)).rejects.toThrow(FencedOutError);
  expect(await listLeft()).toEqual([key]);
  expect(await staging.get(key)).toEqual(kept);
  expect(parsePartOfFindings('shop', key)).toBe('0ee979ade56b/00000');
});
