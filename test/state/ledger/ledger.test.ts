import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { encodeDocument } from '../../../src/state/document.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import {
  findLedger,
  forgetLedger,
  openLedger,
  type SharedDevices,
} from '../../../src/state/ledger/ledger.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'backhaul-ledgers-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

test('a ledger keeps the form of the hashes that it began with', async () => {
  await staging.put(ledgerLayout('old').document, encodeDocument({ format: 1, salt: 'ab' }));
  expect(await openLedger(staging, { id: 'old', secret: '' })).toMatchObject({
    hashForm: 1,
    isForgotten: false,
  });
  expect(await openLedger(staging, { id: 'new', secret: '' })).toMatchObject({ hashForm: 4 });
  await forgetLedger(staging, 'old', new Date());
  expect(await openLedger(staging, { id: 'old', secret: '' })).toMatchObject({
    hashForm: 4,
    isForgotten: true,
  });
});

test('a ledger keeps whose shared devices are, and refuses another answer with a sentence', async () => {
  const access = { id: 'first', secret: '' };
  const openWith = (sharedDevices: SharedDevices) => openLedger(staging, { ...access, sharedDevices });
  expect((await openWith('first')).sharedDevices).toBe('first');
  expect((await openWith('first')).sharedDevices).toBe('first');
  const refusal = /sharedDevices is last.*decided with first.*Set people.sharedDevices to first/s;
  await expect(openWith('last')).rejects.toThrow(refusal);
  await expect(findLedger(staging, { ...access, sharedDevices: 'last' })).rejects.toThrow(refusal);
  await forgetLedger(staging, access.id, new Date(0));
  await expect(openWith('last')).rejects.toThrow(refusal);
  expect((await openLedger(staging, access)).sharedDevices).toBe('first');
});

test('a ledger of an earlier version kept shared devices apart', async () => {
  const access = { id: 'earlier', secret: '' };
  await openLedger(staging, access);
  expect((await openLedger(staging, { ...access, sharedDevices: 'none' })).sharedDevices).toBe('none');
  await expect(openLedger(staging, { ...access, sharedDevices: 'first' })).rejects.toThrow(
    /decided with none/,
  );
});
