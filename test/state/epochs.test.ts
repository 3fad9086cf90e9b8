import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Staging } from '../../src/contract/staging.ts';
import { encodeDocument } from '../../src/state/document.ts';
import {
  isEpochOver,
  loadEpoch,
  loadLatestEpoch,
  loadLatestEpochNumber,
  openEpoch,
} from '../../src/state/epochs.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

let folder: string;
let staging: Staging;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-epochs-'));
  staging = createFolderStaging(folder);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const OWN = { name: 'shop', id: 'own' };
const OTHER = { name: 'shop', id: 'other' };
const open = (producer: string) => ({ openedAt: '', producer, manifest: { by: producer }, baseDir: '/' });

it('epochs of another migration take numbers, and count for nothing else', async () => {
  expect(await openEpoch(staging, OWN, 1, open('first'))).toBe(1);
  expect(await openEpoch(staging, OTHER, 2, open('sleeper'))).toBe(2);

  expect(await loadLatestEpochNumber(staging, OWN)).toBe(1);
  expect(await isEpochOver(staging, OWN, 1)).toBe(false);
  expect(await loadLatestEpoch(staging, OWN)).toEqual(open('first'));
  expect(await loadEpoch(staging, OWN, 2)).toBeUndefined();
  expect(await loadLatestEpoch(staging, OTHER)).toEqual(open('sleeper'));

  expect(await openEpoch(staging, OWN, 2, open('second'))).toBe(3);
  expect(await isEpochOver(staging, OWN, 1)).toBe(true);
  // Of two that open the epoch after the first one gets it, wherever it is; it knows its own if the response was lost.
  expect(await openEpoch(staging, OWN, 2, open('late'))).toBeUndefined();
  expect(await openEpoch(staging, OWN, 2, open('second'))).toBe(3);
});

it('an epoch that cannot be read, or that an earlier version opened, is one of the migration', async () => {
  const { epoch } = layout('shop');
  await staging.create(epoch(1), encodeDocument(open('earlier')));
  expect(await loadLatestEpoch(staging, OWN)).toEqual(open('earlier'));
  expect(await openEpoch(staging, OWN, 1, open('late'))).toBeUndefined();

  await staging.create(epoch(2), Buffer.from('cut o'));
  expect(await loadLatestEpochNumber(staging, OWN)).toBe(2);
  expect(await isEpochOver(staging, OWN, 1)).toBe(true);
  await expect(loadLatestEpoch(staging, OWN)).rejects.toThrow('shop/epochs/00000002');
});

it('an epoch of a migration of another name is damage, and its manifest is not run', async () => {
  await staging.create(
    layout('shop').epoch(1),
    encodeDocument({ ...open('first'), manifest: { name: 'else' } }),
  );
  await expect(loadEpoch(staging, OWN, 1)).rejects.toThrow('is that of migration "else"');
  await expect(loadLatestEpoch(staging, OWN)).rejects.toThrow('is that of migration "else"');
});
