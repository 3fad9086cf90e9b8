import { afterAll, beforeAll, expect, it } from 'vitest';
import { listRejects } from '../../../src/migrations/rejects/rejects.ts';
import { replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { startMigration } from '../../../src/migrations/start.ts';
import { verifyMigration } from '../../../src/migrations/verify/verify.ts';
import { countStored } from '../../support/count-stored.ts';
import { importing, keyedSource, type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const DAY = '2024-02-03T04:05:06Z';

/** Writes a file and the manifest; a corrected one reads a word as a time. */
const load = async (name: string, records: readonly string[], words: readonly string[] = []) => {
  const source = keyedSource(name, words);
  const loaded = await lab.writeManifest(name, { source, rejects: { failAbove: '100%' } });
  lab.writeFile(name, 'a.json', records);
  return loaded;
};

const order = (name: string, n: number, amount: number, t = DAY) =>
  JSON.stringify({ e: 'Order', u: name, t, n: `${name}-${n}`, amount });

const run = async (name: string, records: readonly string[], topUp = false) =>
  startMigration(lab.runtime, await load(name, records), { ...importing(), topUp });

const replay = async (of: string, name: string, records: readonly string[]) =>
  replayRejects(lab.runtime, of, { loaded: await load(name, records, ['later']) }, importing());

const listAmounts = (name: string): number[] =>
  [...lab.destination.events().values()]
    .filter(({ properties }) => properties['distinct_id'] === name)
    .map(({ properties }) => Number(properties['amount']))
    .toSorted((a, b) => a - b);

const listLeft = async (name: string) =>
  (await listRejects(lab.runtime, name)).reasons.map(({ reason, left }) => `${reason} ${left}`);

const countUnexplained = async (name: string) =>
  (
    await verifyMigration(lab.runtime, name, {
      openCounts: async (wanted) => countStored(lab.destination, wanted),
    })
  ).unexplained;

it('rejects a replayed record of the id of a delivered one, and sends it with the next replay', async () => {
  const records = [order('shop', 1, 10), order('shop', 1, 666, 'later'), order('shop', 2, 20)];
  await run('shop', records);
  expect(await replay('shop', 'shop', records)).toMatchObject({
    migration: 'shop.replay-1',
    report: { balanced: true, counts: { read: 1, delivered: 0, rejected: 1 } },
  });
  expect(await listLeft('shop.replay-1')).toEqual(['same_id_other_content 1']);
  expect(await countUnexplained('shop')).toBe(0);

  // What the replay has rejected takes no id from its migration.
  lab.writeFile('shop', 'b.json', [order('shop', 3, 30)]);
  expect(await run('shop', records, true)).toMatchObject({
    report: { counts: { delivered: 3, rejected: 1 } },
  });
  expect(await listLeft('shop')).toEqual(['bad_timestamp 0']);

  await replay('shop.replay-1', 'shop', records);
  expect([...new Set(listAmounts('shop'))]).toEqual([10, 20, 30, 666]);
  expect(await listLeft('shop.replay-1')).toEqual(['same_id_other_content 0']);
  expect(await countUnexplained('shop')).toBe(0);
});

it('rejects a record of a top-up that has the id of a replayed one', async () => {
  const records = [order('late', 1, 666, 'later'), order('late', 2, 20)];
  await run('late', records);
  await replay('late', 'late', records);
  lab.writeFile('late', 'b.json', [order('late', 1, 11), order('late', 2, 20)]);
  expect(await run('late', records, true)).toMatchObject({
    report: { balanced: true, counts: { read: 4, delivered: 1, duplicate: 1, rejected: 2 } },
  });
  expect(await listLeft('late')).toEqual(['bad_timestamp 0', 'same_id_other_content 1']);
  await replay('late', 'late', records);
  expect([...new Set(listAmounts('late'))]).toEqual([11, 20, 666]);
  expect(await countUnexplained('late')).toBe(0);
});

it('rejects what --again makes with another map of the same ids, says so, and sends it with the next replay', async () => {
  const records = [order('remapped', 1, 10, 'later'), order('remapped', 2, 20)];
  await run('remapped', records);
  await replay('remapped', 'remapped', records);
  const source = keyedSource('remapped', ['later']);
  const loaded = await lab.writeManifest('remapped', {
    source: { ...source, mapping: { ...source.mapping, exclude: ['amount'] } },
    rejects: { failAbove: '100%' },
  });
  const input = { loaded, again: true };
  expect(await replayRejects(lab.runtime, 'remapped', input, importing())).toMatchObject({
    migration: 'remapped.replay-2',
    report: { balanced: true, counts: { read: 1, rejected: 1 } },
  });
  const { reasons } = await listRejects(lab.runtime, 'remapped.replay-2');
  expect(reasons).toMatchObject([
    {
      reason: 'same_id_other_content',
      left: 1,
      example: expect.stringContaining('or of this one with another map'),
    },
  ]);
  expect(await countUnexplained('remapped')).toBe(0);
  expect(await replayRejects(lab.runtime, 'remapped.replay-2', { loaded }, importing())).toMatchObject({
    report: { balanced: true, counts: { rejected: 0 } },
  });
  const stored = [...lab.destination.events().values()].filter(({ distinctId }) => distinctId === 'remapped');
  expect(new Set(stored.map(({ properties }) => properties['amount']))).toEqual(new Set([10, 20, undefined]));
  expect(await countUnexplained('remapped')).toBe(0);
});
