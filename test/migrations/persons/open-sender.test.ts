import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { findOpenSender } from '../../../src/migrations/persons/lock/open-sender.ts';
import { saveTurnPlan, type TurnPlan } from '../../../src/migrations/persons/turn.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { endTurn, openTurn } from '../../../src/state/ledger/turns.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const LEDGER = 'ledger';

async function createTurns() {
  const folder = await mkdtemp(join(tmpdir(), 'backhaul-sender-'));
  folders.push(folder);
  const staging = createFolderStaging(folder);
  return {
    staging,
    async open(name: string, said: Pick<TurnPlan, 'mayHaveSent'> | undefined) {
      const turn = await openTurn(staging, LEDGER, { migration: `id of ${name}`, name, at: '' });
      const plan: TurnPlan = { ledger: LEDGER, purpose: 'send', of: [name], facts: '', ranges: 1, ...said };
      if (said) await saveTurnPlan(staging, name, turn, plan);
      return turn;
    },
    find: (before: number) => findOpenSender(staging, LEDGER, before),
  };
}

it('finds the last turn that has not ended and may have sent something', async () => {
  const { staging, open, find } = await createTurns();
  const first = await open('one', { mayHaveSent: true });
  const second = await open('two', {}); // as earlier versions had it
  const third = await open('three', { mayHaveSent: false });
  const fourth = await open('four', undefined);
  expect(await find(first)).toBeUndefined();
  expect(await find(second)).toEqual({ migration: 'id of one', name: 'one', turn: first });
  expect(await find(fourth + 1)).toEqual({ migration: 'id of two', name: 'two', turn: second });
  await endTurn(staging, LEDGER, second);
  expect(await find(fourth + 1)).toMatchObject({ name: 'one' });
  await staging.put(layout('three').turn(third), Buffer.from('damaged'));
  expect(await find(fourth + 1)).toMatchObject({ name: 'three' });
});
