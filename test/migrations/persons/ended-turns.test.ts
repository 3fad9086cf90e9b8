import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { emptySentRange, REFUSED_SAMPLE } from '../../../src/identity/sent-range.ts';
import { loadPersons } from '../../../src/migrations/persons/load-persons.ts';
import {
  type EndedTurn,
  findEndedTurn,
  listEndedEpochs,
  listEndedTurns,
  saveTurnPlan,
} from '../../../src/migrations/persons/turn.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { endTurn } from '../../../src/state/ledger/turns.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'backhaul-ended-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const open = () => {
  const staging = createFolderStaging(folder);
  return {
    staging,
    end: (name: string, turn: number, epoch: number, refusedCount: number) => {
      const one = { event: '$identify', distinctId: 'a', uuid: '', detail: '' };
      const refused = Array.from({ length: Math.min(refusedCount, REFUSED_SAMPLE) }, () => one);
      const result = { ...emptySentRange(), refusedCount, refused };
      const ended: EndedTurn = { turn, purpose: 'send', of: [name], result };
      return staging.put(layout(name).endedTurn(turn, epoch), encodeDocument(ended));
    },
    begin: async (name: string, turn: number) =>
      saveTurnPlan(staging, name, turn, {
        ledger: '0a1b',
        purpose: 'send',
        of: [name],
        facts: '',
        ranges: 1,
        ended: [...(await listEndedEpochs(staging, name)).keys()],
      }),
    list: async (name: string) =>
      (await listEndedTurns(staging, name)).map(({ turn, result }) => [turn, result.refusedCount]),
  };
};

it('of several about one turn that of the newest epoch counts, however late the others are written', async () => {
  const { staging, end, begin, list } = open();
  await begin('shop', 1);
  await end('shop', 1, 3, 0);
  await end('shop', 1, 2, 7);
  expect(await list('shop')).toEqual([[1, 0]]);
  expect(await findEndedTurn(staging, 'shop', 1)).toMatchObject({ result: { refusedCount: 0 } });
  await end('shop', 1, 12, 4);
  expect(await list('shop')).toEqual([[1, 4]]);
});

it('a turn that came to nothing before the next one began never comes to anything', async () => {
  const { end, begin, list } = open();
  await begin('left', 1);
  await begin('left', 2);
  await end('left', 1, 1, 7); // by the producer of the first, which slept
  await end('left', 2, 2, 0);
  expect(await list('left')).toEqual([[2, 0]]);
  await begin('left', 10);
  await end('left', 10, 3, 1);
  expect(await list('left')).toEqual([
    [2, 0],
    [10, 1],
  ]);
});

it('what a turn came to that its ledger knows as ended, and whose document is gone, is not nothing', async () => {
  const { staging, end, begin } = open();
  await begin('gone', 1);
  await end('gone', 1, 1, 7);
  await begin('gone', 2);
  await begin('gone', 3);
  await endTurn(staging, '0a1b', 1);
  expect((await loadPersons(staging, 'gone')).lost).toEqual([]);
  await endTurn(staging, '0a1b', 3);
  const { sent, lost } = await loadPersons(staging, 'gone');
  expect([sent.refusedCount, lost]).toEqual([7, ['gone/people/ended/00000003/']]);
});
