import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadLatestEpochNumber, openEpoch } from '../../src/state/epochs.ts';
import { ledgerLayout } from '../../src/state/keys/ledger.ts';
import { layout, RECORDS } from '../../src/state/keys/migration.ts';
import { createLedgerTables } from '../../src/state/ledger/ledger-tables.ts';
import { endTurn, loadTurns, openTurn } from '../../src/state/ledger/turns.ts';
import { listMigrations } from '../../src/state/migrations.ts';
import { createFolderStaging } from '../../src/state/staging/folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-foreign-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** What file managers and earlier versions leave beside objects. */
async function litter(prefix: string): Promise<void> {
  await mkdir(dirname(join(folder, `${prefix}x`)), { recursive: true });
  for (const name of ['.DS_Store', '._00000001.json', 'Thumbs.db', '00000NaN', '00000NaN.json'])
    await writeFile(join(folder, `${prefix}${name}`), 'not ours');
}

it('a file that is none of ours changes no count of epochs, turns and versions', async () => {
  const staging = createFolderStaging(folder);
  const [keys, ledger] = [layout('shop'), ledgerLayout('0a1b')];
  for (const prefix of [keys.epochs, ledger.turns, ledger.endedTurns, ledger.table('ids')])
    await litter(prefix);

  expect(await loadLatestEpochNumber(staging, 'shop')).toBe(0);
  expect(await openEpoch(staging, 'shop', 1, { openedAt: '', manifest: {}, baseDir: '' })).toBe(1);
  expect(await loadLatestEpochNumber(staging, 'shop')).toBe(1);

  expect(await openTurn(staging, '0a1b', { migration: 'id', name: 'shop', at: '' })).toBe(1);
  await endTurn(staging, '0a1b', 1);
  expect(await loadTurns(staging, '0a1b')).toEqual({ last: 1, known: new Set([1]), ended: new Set([1]) });

  const tables = createLedgerTables(staging, '0a1b', 'ids', 8);
  expect((await tables.load([0])).size).toBe(1);
});

it('a file that is none of ours beside the records is no migration', async () => {
  await litter(RECORDS);
  expect(await listMigrations(createFolderStaging(folder))).toEqual([]);
});
