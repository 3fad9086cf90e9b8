import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { encodeDocument } from '../../../src/state/document.ts';
import { ledgerLayout } from '../../../src/state/keys.ts';
import { forgetLedger, openLedger } from '../../../src/state/ledger/ledger.ts';
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
  expect(await openLedger(staging, { id: 'new', secret: '' })).toMatchObject({ hashForm: 2 });
  await forgetLedger(staging, 'old', new Date());
  expect(await openLedger(staging, { id: 'old', secret: '' })).toMatchObject({
    hashForm: 2,
    isForgotten: true,
  });
});
