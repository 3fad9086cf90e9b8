import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { findLedgerId, findManifestDifferences } from '../../../src/migrations/prepare/compare-manifest.ts';
import { createRecord } from '../../../src/migrations/prepare/create-record.ts';
import { createAcceptanceMark } from '../../../src/state/destination-marks.ts';
import { openEpoch } from '../../../src/state/epochs.ts';
import type { MigrationRecord } from '../../../src/state/migrations.ts';
import { createReceipt } from '../../../src/state/receipts.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { delivered, makeReceipt } from '../report/sample-receipts.ts';

let folder: string;
let number = 0;
let name: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-compare-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(() => {
  number += 1;
  name = `m${number}`;
});

const manifestTo = (project?: string, url = 'https://a.example.com') =>
  manifestSchema.parse({
    name,
    source: { type: 'amplitude', from: 'x', timezone: 'UTC' },
    destination: { url, apiKey: '${KEY}', ...(project === undefined ? {} : { project }) },
  });
type Manifest = ReturnType<typeof manifestTo>;
const withKey = (key: string) => ({
  staging: createFolderStaging(folder),
  env: { KEY: key },
  bundled: undefined,
});

/** A migration that was begun with a key, and of which events were accepted where `accepted` is above 0. */
async function begin(manifest: Manifest, { key, accepted }: { key: string; accepted: number }) {
  const { staging, ...deps } = withKey(key);
  const record = await createRecord({ staging, now: () => new Date(0) }, { manifest, baseDir: '/' }, []);
  const ledger = findLedgerId(manifest, deps);
  await openEpoch(staging, name, 1, {
    openedAt: '',
    manifest,
    baseDir: '/',
    ...(ledger === undefined ? {} : { ledger }),
  });
  await createReceipt(staging, name, makeReceipt('f/00000', 'f', delivered('seen', accepted)));
  return record;
}
const compare = (record: MigrationRecord, manifest: Manifest, key: string) =>
  findManifestDifferences(withKey(key), record, manifest);

describe('another project', () => {
  it('is another migration', async () => {
    const record = await begin(manifestTo('pa'), { key: 'k', accepted: 1 });
    expect(await compare(record, manifestTo('pb'), 'k')).toEqual([
      'destination.project: was "pa", is now "pb"',
    ]);
    expect(await compare(record, manifestTo(), 'k')).toEqual([
      'destination.project: was "pa", is now not there',
    ]);
    expect(await compare(record, manifestTo('pa'), 'a new key')).toEqual([]);
  });

  it('is another migration where only the manifest of its beginning names it, as older versions stored it', async () => {
    const record = await begin(manifestTo('pa'), { key: 'k', accepted: 1 });
    const { 'destination.project': _, ...identity } = record.identity as Record<string, unknown>;
    const older = { ...record, identity };
    expect(await compare(older, manifestTo('pa'), 'k')).toEqual([]);
    expect(await compare(older, manifestTo('pb'), 'k')).toHaveLength(1);
  });
});

describe('another key', () => {
  it('needs the name of its project, once events were accepted', async () => {
    const record = await begin(manifestTo(), { key: 'k', accepted: 1 });
    expect(await compare(record, manifestTo(), 'k')).toEqual([]);
    const [line = ''] = await compare(record, manifestTo(), 'another');
    expect(line).toContain('is another key than the one that events were sent with');
    expect(await compare(record, manifestTo('the same'), 'another')).toEqual([]);
  });

  it('corrects a wrong one that nothing was accepted with', async () => {
    const record = await begin(manifestTo(), { key: 'wrong', accepted: 0 });
    expect(await compare(record, manifestTo(), 'right')).toEqual([]);
  });
});

it('another address is a difference, with a project or without', async () => {
  const record = await begin(manifestTo('pa'), { key: 'k', accepted: 0 });
  expect(await compare(record, manifestTo('pa', 'https://b.example.com'), 'k')).toHaveLength(1);
});

describe('stamps', () => {
  it('are pinned', async () => {
    const record = await begin(manifestTo(), { key: 'k', accepted: 0 });
    const other = { ...manifestTo(), stamps: { importId: 'job', source: 'analytics_source' } };
    expect(await compare(record, other, 'k')).toEqual([
      'stamps.importId: was "$import_job_id", is now "job"',
    ]);
  });

  it('are no difference to a migration of a version that had none', async () => {
    const record = await begin(manifestTo(), { key: 'k', accepted: 0 });
    const { stamps: _, ...identity } = record.identity as Record<string, unknown>;
    expect(await compare({ ...record, identity }, manifestTo(), 'k')).toEqual([]);
  });
});

test('an option that a later version of a source brings is no difference, and another value of it is one', async () => {
  const record = await begin(manifestTo(), { key: 'k', accepted: 0 });
  const identity = record.identity as { source: Record<string, unknown> };
  const { dropIp: _, ...source } = identity.source;
  const older = { ...record, identity: { ...identity, source } };
  expect(await compare(older, manifestTo(), 'k')).toEqual([]);
  const dropping = { ...manifestTo(), source: { ...manifestTo().source, dropIp: true } };
  expect(await compare(older, dropping, 'k')).toEqual(['source.dropIp: was false, is now true']);
});

it('is not found by what a process of a removed migration of the name has sent', async () => {
  const record = await begin(manifestTo(), { key: 'right', accepted: 0 });
  const { staging, ...deps } = withKey('wrong');
  const mark = { ledger: findLedgerId(manifestTo(), deps) ?? '' };
  await createAcceptanceMark(staging, { name, id: 'of-a-removed-one' }, mark);
  expect(await compare(record, manifestTo(), 'another')).toEqual([]);
  await createAcceptanceMark(staging, record, mark);
  expect(await compare(record, manifestTo(), 'another')).not.toEqual([]);
});
