import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { type LedgerTable, ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { type Ledger, openLedger } from '../../../src/state/ledger/ledger.ts';
import { createLedgerTables } from '../../../src/state/ledger/ledger-tables.ts';
import { loadTurnDocument, openTurn } from '../../../src/state/ledger/turns.ts';
import {
  clearLedger,
  findLostVersion,
  saveFirstVersions,
  saveVersions,
} from '../../../src/state/ledger/versions.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'backhaul-versions-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const WIDTH = 16;
let number = 0;
let ledger: Ledger;
let keys: ReturnType<typeof ledgerLayout>;
beforeEach(async () => {
  number += 1;
  ledger = await openLedger(staging, { id: `ledger-${number}`, secret: '' });
  keys = ledgerLayout(ledger.id);
});

/** Saves bucket 7 of a table once more. */
async function saveBucket(table: LedgerTable): Promise<void> {
  const tables = createLedgerTables(staging, ledger.id, table, WIDTH);
  const loaded = await tables.load([7]);
  for (const one of loaded.values()) one.changed = true;
  await tables.save(loaded);
}

const open = () => openTurn(staging, ledger.id, { migration: 'm', name: 'shop', at: '' });

test('a ledger that has its document alone is new', async () => {
  expect(await findLostVersion(staging, ledger)).toBeUndefined();
  await staging.put(`${keys.knownFacts}.DS_Store`, Buffer.alloc(0));
  expect(await findLostVersion(staging, ledger)).toBeUndefined();
});

test.each([
  ['a migration is known', () => staging.put(keys.known('shop'), Buffer.alloc(0))],
  ['a turn was opened', () => open()],
  ['a turn has ended', () => staging.put(keys.endedTurn(1), Buffer.alloc(0))],
  ['a bucket was saved', () => saveBucket('properties')],
])('a ledger without versions, where %s, has lost them', async (_, begin) => {
  await begin();
  expect(await findLostVersion(staging, ledger)).toBe(keys.allVersions);
});

test('what a turn that has not ended noted is missed, and what it did not is not', async () => {
  await saveVersions(staging, ledger);
  await saveBucket('properties');
  const note = (version: number) => [{ table: 'properties' as const, versions: { 7: version } }];
  expect(await findLostVersion(staging, ledger, note(1))).toBeUndefined();
  expect(await findLostVersion(staging, ledger, note(2))).toBe(keys.version('properties', 7, 2));
  // Noted for good before the receipts go.
  await saveVersions(staging, ledger, note(2));
  expect(await findLostVersion(staging, ledger)).toBe(keys.version('properties', 7, 2));
});

test.each(['ids', 'joined', 'earlier'] as const)(
  'what was lost of %s stays noted when versions are saved again, until the ledger is emptied',
  async (table) => {
    await saveBucket(table);
    await saveVersions(staging, ledger);
    await staging.remove(keys.version(table, 7, 1));
    await saveVersions(staging, ledger);
    expect(await findLostVersion(staging, ledger)).toBe(keys.version(table, 7, 1));
    expect(await clearLedger(staging, ledger.id, 2)).toBe(true);
    expect(await findLostVersion(staging, ledger)).toBe(keys.versions(3));
    await saveFirstVersions(staging, ledger, 1);
    expect(await findLostVersion(staging, ledger)).toBeUndefined();
  },
);

test('a turn whose document is gone is missed, because tables name it; a damaged one is nobody’s', async () => {
  await saveVersions(staging, ledger);
  const turn = await open();
  await saveVersions(staging, ledger);
  await staging.put(keys.turn(turn), Buffer.alloc(0));
  expect(await findLostVersion(staging, ledger)).toBeUndefined();
  expect(await loadTurnDocument(staging, ledger.id, turn)).toBeUndefined();
  expect(await open()).toBe(turn + 1);
  await saveVersions(staging, ledger);
  await staging.remove(keys.turn(turn + 1));
  expect(await findLostVersion(staging, ledger)).toBe(keys.turn(turn + 1));
});

test('a caller without the key of the hashes misses the document all the same', async () => {
  await saveVersions(staging, ledger);
  const { id } = ledger;
  expect(await findLostVersion(staging, { id })).toBeUndefined();
  await staging.remove(keys.document);
  expect(await findLostVersion(staging, { id })).toBe(keys.document);
  expect(await findLostVersion(staging, await openLedger(staging, { id, secret: '' }))).toBe(keys.document);
});

/** A writer that sleeps before it creates what it has decided, until it is woken. */
function sleepBeforeCreate() {
  let fallAsleep = () => {};
  let wake = () => {};
  const asleep = new Promise<void>((resolve) => {
    fallAsleep = resolve;
  });
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const create: Staging['create'] = async (key, body) => {
    fallAsleep();
    await woken;
    return staging.create(key, body);
  };
  return { sleepy: { ...staging, create }, asleep, wake: () => wake() };
}

test.each([1, 2, 3])('a writer that slept lowers nothing, after %i newer ones', async (newer) => {
  const { sleepy, asleep, wake } = sleepBeforeCreate();
  const sleeping = saveVersions(sleepy, ledger);
  await asleep;
  for (let n = 0; n < newer; n += 1) {
    await saveBucket('ids');
    await saveVersions(staging, ledger);
  }
  await staging.remove(keys.version('ids', 7, newer));
  wake();
  await sleeping;
  expect(await findLostVersion(staging, ledger)).toBe(keys.version('ids', 7, newer));
  await saveVersions(staging, ledger);
  expect(await findLostVersion(staging, ledger)).toBe(keys.version('ids', 7, newer));
});

test('a writer that slept while the ledger was emptied does not make it whole', async () => {
  await saveBucket('ids');
  await saveVersions(staging, ledger);
  const { sleepy, asleep, wake } = sleepBeforeCreate();
  const sleeping = saveVersions(sleepy, ledger);
  await asleep;
  expect(await clearLedger(staging, ledger.id, 1)).toBe(true);
  wake();
  await sleeping;
  expect(await findLostVersion(staging, ledger)).toBe(keys.versions(2));
  await saveFirstVersions(staging, ledger, 1);
  expect(await findLostVersion(staging, ledger)).toBeUndefined();
});

test('a ledger at which somebody had a turn since is not emptied', async () => {
  await saveBucket('ids');
  await saveVersions(staging, ledger);
  await saveVersions(staging, ledger);
  expect(await clearLedger(staging, ledger.id, 1)).toBe(false);
  expect(await staging.get(keys.version('ids', 7, 1))).toBeDefined();
  expect(await findLostVersion(staging, ledger)).toBeUndefined();
});

test('a reader finds the newest while it is replaced', async () => {
  await saveVersions(staging, ledger);
  let reads = 0;
  const get: Staging['get'] = async (key) => {
    reads += 1;
    if (reads === 1) await saveVersions(staging, ledger);
    return staging.get(key);
  };
  expect(await findLostVersion({ ...staging, get }, ledger)).toBeUndefined();
});
