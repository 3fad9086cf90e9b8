import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import type { Staging } from '../../src/contract/staging.ts';
import { SourceError } from '../../src/lib/errors.ts';
import { encodeDocument, loadDocument, loadIfWhole, parseDocument } from '../../src/state/document.ts';
import { createMigration, type MigrationRecord } from '../../src/state/migrations.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'document-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const schema = z.strictObject({ name: z.string(), parts: z.array(z.number()) });
const KEY = 'shop/control.json';

it('writes the bytes that every version has written', () => {
  expect(encodeDocument({ name: 'shöp', parts: [1, 2] }).toString('utf8')).toBe(
    '{\n "name": "shöp",\n "parts": [\n  1,\n  2\n ]\n}\n',
  );
});

it('loads what was stored, and nothing where nothing is', async () => {
  expect(await loadDocument(schema, KEY, staging)).toBeUndefined();
  await staging.put(KEY, encodeDocument({ name: 'shop', parts: [] }));
  expect(await loadDocument(schema, KEY, staging)).toEqual({ name: 'shop', parts: [] });
});

it.each(['', '{"name":"shop"', '{"name":"shop"}'])('takes %j for damage, and names the place', (text) => {
  expect(() => parseDocument(schema, Buffer.from(text), KEY, staging)).toThrow(SourceError);
  expect(() => parseDocument(schema, Buffer.from(text), KEY, staging)).toThrow(
    `${folder}: ${KEY} is not what Backhaul wrote there; `,
  );
});

it('of a newer version says so, and does not take it for lost', async () => {
  await staging.put(KEY, Buffer.from('{"name":"shop","parts":[],"more":1}'));
  for (const load of [loadDocument, loadIfWhole])
    await expect(load(schema, KEY, staging)).rejects.toThrow(/"more".*: a newer version wrote it/);
  await staging.put(KEY, Buffer.from('{"name":"shop"}'));
  expect(await loadIfWhole(schema, KEY, staging)).toBeUndefined();
});

it('with a value that this version does not know is perhaps of a newer one, and may be made again', async () => {
  const states = z.strictObject({ state: z.enum(['running', 'stopped']) });
  await staging.put(KEY, Buffer.from('{"state":"archived","by":"somebody"}'));
  await expect(loadDocument(states, KEY, staging)).rejects.toThrow(
    /is not what this version of Backhaul writes there \(.*running.*\): perhaps a newer version wrote it, .*; else /,
  );
  expect(await loadIfWhole(states, KEY, staging)).toBeUndefined();
});

it('that was cut off on its way is read again', async () => {
  await staging.put(KEY, encodeDocument({ name: 'shop', parts: [] }));
  for (const load of [loadDocument, loadIfWhole]) {
    let cuts = 1;
    const cutting: Staging = {
      ...staging,
      async get(key) {
        const body = await staging.get(key);
        cuts -= 1;
        return cuts < 0 ? body : body?.subarray(0, 9);
      },
    };
    expect(await load(schema, KEY, cutting)).toEqual({ name: 'shop', parts: [] });
  }
});

it('of a migration is its own where the response to its creation was lost', async () => {
  const retrying: Staging = {
    ...staging,
    async create(key, body) {
      await staging.create(key, body);
      return staging.create(key, body);
    },
  };
  const create = (id: string) => createMigration(retrying, { name: 'twice', id } as MigrationRecord);
  expect(await create('1')).toBe(true);
  expect(await create('2')).toBe(false);
});

it('of a migration that staging took and lost stops the migration before anything is sent', async () => {
  const losing: Staging = { ...staging, create: async () => true };
  const record = { name: 'lost' } as MigrationRecord;
  await expect(createMigration(losing, record)).rejects.toThrow(
    /accepted _migrations\/lost\.json, and does not have it\. Nothing was sent; /,
  );
});
