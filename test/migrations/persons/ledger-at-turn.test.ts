import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { openLedgerAtTurn } from '../../../src/migrations/persons/ledger-at-turn.ts';
import { listNotedVersions } from '../../../src/migrations/persons/noted-versions.ts';
import { saveTurnPlan } from '../../../src/migrations/persons/turn.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { toRangeKey } from '../../../src/state/keys/turn.ts';
import { openTurn } from '../../../src/state/ledger/turns.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const LEDGER = '0a1b';
const LAST = 40;

let folder: string;
let staging: Staging;
/** Keys that were read, and how many at once at most. */
let read: string[];
let atOnce: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-turns-'));
  const whole = createFolderStaging(folder);
  read = [];
  atOnce = 0;
  let reading = 0;
  const get = async (key: string) => {
    read.push(key);
    reading += 1;
    atOnce = Math.max(atOnce, reading);
    return whole.get(key).finally(() => {
      reading -= 1;
    });
  };
  staging = { ...whole, get };
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const plan = (turn: number, mayHaveSent: boolean) =>
  saveTurnPlan(staging, 'shop', turn, {
    ledger: LEDGER,
    purpose: 'send',
    of: ['shop'],
    facts: '',
    ranges: 1,
    mayHaveSent,
  });

/** Turns that never ended, those with even numbers after they may have sent. */
async function begin(turns: number): Promise<void> {
  for (let turn = 1; turn <= turns; turn += 1) {
    await openTurn(staging, LEDGER, { migration: '1', name: 'shop', at: '' });
    await plan(turn, turn % 2 === 0);
  }
  read = [];
}

async function listUnsent(): Promise<number[]> {
  const { sentNothing } = await openLedgerAtTurn(staging, { id: LEDGER, secret: '' }, LAST + 1, 'send');
  return Array.from({ length: LAST }, (_, index) => index + 1).filter((turn) => sentNothing?.(turn));
}
const odd = Array.from({ length: LAST / 2 }, (_, index) => 2 * index + 1);
const isOfTurn = (key: string) => key.includes('/turns/');

it('turns that never ended are read several at once, and once by a process', async () => {
  await begin(LAST);
  expect(await listUnsent()).toEqual(odd);
  expect(read.filter(isOfTurn)).toHaveLength(2 * LAST);
  expect(atOnce).toBe(16);
  read = [];
  expect(await listUnsent()).toEqual(odd);
  expect(read.filter(isOfTurn)).toEqual([]);
});

it('a turn that had sent nothing when a later one came stays so, whatever a sleeper notes', async () => {
  await begin(3);
  expect(await listUnsent()).toEqual([1, 3]);
  await plan(3, true);
  expect(await listUnsent()).toEqual([1, 3]);
});

it('what was missing or damaged is read again', async () => {
  await begin(3);
  await staging.remove(layout('shop').turn(1));
  await staging.put(layout('shop').turn(3), Buffer.from('{'));
  expect(await listUnsent()).toEqual([]);
  await plan(1, false);
  await plan(3, false);
  expect(await listUnsent()).toEqual([1, 3]);
});

it('a ledger that was removed and made anew is not taken for the one before', async () => {
  await begin(1);
  expect(await listUnsent()).toEqual([1]);
  await staging.remove(ledgerLayout(LEDGER).document);
  await plan(1, true);
  expect(await listUnsent()).toEqual([]);
});

it('what turns have noted is read of several at once', async () => {
  await begin(LAST);
  for (let turn = 1; turn <= LAST; turn += 1) {
    const { resolved } = layout('shop').atTurn(turn);
    await staging.put(toRangeKey(resolved, { from: 0, to: 1 }), encodeDocument({ versions: { 7: turn } }));
  }
  const noted = await listNotedVersions(staging, LEDGER);
  expect(noted.map(({ versions }) => versions[7]).sort((a = 0, b = 0) => a - b)).toEqual(
    Array.from({ length: LAST }, (_, index) => index + 1),
  );
  expect(atOnce).toBe(16);
});
