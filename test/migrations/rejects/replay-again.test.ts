import { afterAll, beforeAll, expect, it } from 'vitest';
import { cancelMigration } from '../../../src/migrations/control.ts';
import { listRejects, type ShownReject, showRejects } from '../../../src/migrations/rejects/rejects.ts';
import { type ReplayInput, replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { type RunOptions, resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { loadStatus } from '../../../src/migrations/status/watch.ts';
import { verifyMigration } from '../../../src/migrations/verify/verify.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { countStored } from '../../support/count-stored.ts';
import {
  importing,
  keyedSource,
  line,
  type MigrationLab,
  openMigrationLab,
} from '../../support/migration-lab.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const DAY = '2024-02-03T04:05:06Z';

/** A migration of one good record and of rejects: two with words for a time, and two that share an id. */
async function begin(name: string) {
  await startMigration(lab.runtime, await load(name), importing());
}

/** The manifest, as corrected so far: the words that are times by now. */
async function load(name: string, words: readonly string[] = []) {
  const source = keyedSource(name, words);
  const loaded = await lab.writeManifest(name, { source, rejects: { failAbove: '90%' } });
  const other = JSON.stringify({ e: 'counted', u: `user-${name}-4`, t: DAY, n: `${name}-4`, other: true });
  lab.writeFile(name, 'a.json', [
    line(`${name}-1`),
    line(`${name}-2`, 'yesterday'),
    line(`${name}-3`, 'last week'),
    line(`${name}-4`),
    other,
  ]);
  return loaded;
}

const replay = async (
  name: string,
  { words = ['yesterday'], ...input }: Omit<ReplayInput, 'loaded'> & { words?: readonly string[] } = {},
  options: RunOptions = importing(),
) => {
  const root = name.split('.')[0] ?? name;
  return replayRejects(lab.runtime, name, { ...input, loaded: await load(root, words) }, options);
};

/** What `rejects ls` tells, in short. */
const list = async (name: string) => {
  const { reasons, replays } = await listRejects(lab.runtime, name);
  return {
    left: Object.fromEntries(reasons.map(({ reason, count, left }) => [reason, `${left} of ${count}`])),
    replays: replays.map(
      ({ migration, state, count, left }) => `${migration} ${state} ${count}, left ${left}`,
    ),
  };
};

/** The report with all replays against the strict destination, which stores an event once. */
const verify = async (name: string) => {
  const { comparisons, unexplained } = await verifyMigration(lab.runtime, name, {
    openCounts: async (wanted) => countStored(lab.destination, wanted),
  });
  const { old, now } = comparisons[0]?.total ?? {};
  return { old, now, unexplained };
};

const equal = (count: number) => ({ old: count, now: count, unexplained: 0 });

it('sends a reject once, whichever is replayed, and says who has what', async () => {
  await begin('shop');
  const first = { bad_timestamp: '2 of 2', same_id_other_content: '1 of 1' };
  expect(await list('shop')).toEqual({ left: first, replays: [] });
  expect(await verify('shop')).toEqual(equal(2));

  // Of one reason, then of all others.
  expect(await replay('shop', { reason: 'bad_timestamp' })).toMatchObject({
    migration: 'shop.replay-1',
    report: { balanced: true, counts: { read: 2, delivered: 1, rejected: 1 } },
  });
  expect(await list('shop')).toEqual({
    left: { bad_timestamp: '0 of 2', same_id_other_content: '1 of 1' },
    replays: ['shop.replay-1 finished 2, left 1'],
  });
  expect(await verify('shop')).toEqual(equal(3));
  expect(await replay('shop')).toMatchObject({
    migration: 'shop.replay-2',
    report: { balanced: true, counts: { read: 2, delivered: 2 } },
  });
  expect(await verify('shop')).toEqual(equal(5));

  const nothing = await replay('shop');
  expect(nothing).toEqual({
    kind: 'nothing_to_replay',
    migration: 'shop',
    replays: [
      { migration: 'shop.replay-1', state: 'finished', count: 2, left: 1 },
      { migration: 'shop.replay-2', state: 'finished', count: 1, left: 0 },
    ],
  });
  const shown: ShownReject[] = [];
  await showRejects(lab.runtime, 'shop', { limit: 9, onReject: (reject) => shown.push(reject) });
  expect(shown.map(({ line: at, replayedBy }) => [at, replayedBy])).toEqual([
    [2, 'shop.replay-1'],
    [3, 'shop.replay-1'],
    [expect.any(Number), 'shop.replay-2'],
  ]);

  // What the replay rejected is in its own books.
  expect(await replay('shop.replay-1', { words: ['yesterday', 'last week'] })).toMatchObject({
    migration: 'shop.replay-1.replay-1',
    report: { counts: { read: 1, delivered: 1 } },
  });
  expect(await list('shop.replay-1')).toMatchObject({ left: { bad_timestamp: '0 of 1' } });
  for (const name of ['shop', 'shop.replay-1', 'shop.replay-2'])
    expect(await replay(name)).toMatchObject({ kind: 'nothing_to_replay' });
  expect(await verify('shop')).toEqual(equal(6));
});

it('has a record left that came after a replay, whichever record of its id counts as delivered', async () => {
  for (let at = 1; at < 30; at += 1) {
    const name = `late-${at}`;
    await begin(name);
    await replay(name);
    const id = { e: 'counted', u: `user-${name}-4`, t: DAY, n: `${name}-4` };
    lab.writeFile(name, 'b.json', [JSON.stringify({ ...id, late: true })]);
    await startMigration(lab.runtime, await load(name), importing({ topUp: true }));
    expect(await list(name)).toMatchObject({ left: { same_id_other_content: '1 of 2' } });
    const shown: ShownReject[] = [];
    await showRejects(lab.runtime, name, { limit: 9, onReject: (reject) => shown.push(reject) });
    const isShown = shown.some(
      ({ file, reason }) => file.endsWith('b.json') && reason === 'same_id_other_content',
    );
    if (isShown) continue; // another one of the id counts as delivered
    expect(await replay(name)).toMatchObject({ report: { counts: { read: 1, delivered: 1 } } });
    expect(await list(name)).toMatchObject({ left: { same_id_other_content: '0 of 2' } });
    return;
  }
  expect.unreachable();
});

it('sends everything again where that is asked for, and counts at the destination what is there once', async () => {
  await begin('again');
  await replay('again');
  expect(await verify('again')).toEqual(equal(5));
  expect(await replay('again', { again: true })).toMatchObject({
    migration: 'again.replay-2',
    report: { counts: { read: 4, delivered: 3, rejected: 1 } },
  });
  expect(await list('again')).toMatchObject({ replays: ['again.replay-2 finished 3, left 1'] });
  expect(await verify('again')).toEqual(equal(5));
});

it('leaves nothing behind and repeats nothing where a replay was interrupted and resumed', async () => {
  await begin('resumed');
  const stop = new AbortController();
  const staged = importing({
    signal: stop.signal,
    importHere: false,
    onStatus: ({ parts }) => parts.known === 2 && stop.abort(new Error('enough')),
  });
  expect(await replay('resumed', {}, staged)).toMatchObject({ kind: 'stopped' });
  expect(await list('resumed')).toMatchObject({
    left: { bad_timestamp: '0 of 2' },
    replays: ['resumed.replay-1 stopped 3, left 0'],
  });
  expect(await resumeMigration(lab.runtime, 'resumed.replay-1', importing())).toMatchObject({
    kind: 'finished',
  });
  expect(await replay('resumed')).toMatchObject({ kind: 'nothing_to_replay' });
  expect(await verify('resumed')).toEqual(equal(5));
});

it('takes over what a cancelled replay had not finished, and that alone', async () => {
  await begin('given-up');
  lab.destination.overrule((_, text) =>
    text.includes('given-up-4') ? { status: 503, body: '' } : undefined,
  );
  let cancelled: Promise<unknown> | undefined;
  const ended = await replay(
    'given-up',
    {},
    importing({
      onStatus: ({ parts }) => {
        if (parts.done === 1)
          cancelled ??= cancelMigration(lab.runtime, 'given-up.replay-1', 'no longer wanted');
      },
    }),
  );
  await cancelled;
  lab.destination.overrule(undefined);
  expect(ended).toMatchObject({ kind: 'held' });
  expect(await loadStatus(lab.runtime, 'given-up.replay-1')).toMatchObject([{ state: 'cancelled' }]);
  expect(await list('given-up')).toEqual({
    left: { bad_timestamp: '0 of 2', same_id_other_content: '1 of 1' },
    replays: ['given-up.replay-1 cancelled 2, left 1'],
  });
  expect(await verify('given-up')).toEqual(equal(3));

  expect(await replay('given-up')).toMatchObject({
    migration: 'given-up.replay-2',
    report: { counts: { read: 2, delivered: 2 } },
  });
  await expect(resumeMigration(lab.runtime, 'given-up.replay-1', importing())).rejects.toThrow(
    '"given-up.replay-2" took over what it had left',
  );
  expect(await replay('given-up')).toMatchObject({ kind: 'nothing_to_replay' });
  expect(await verify('given-up')).toEqual(equal(5));
  // Also once it is removed without a report.
  await remove('given-up.replay-1');
  expect(await replay('given-up')).toMatchObject({ kind: 'nothing_to_replay' });
  expect(await verify('given-up')).toEqual(equal(5));
});

it('remembers what a removed replay has sent', async () => {
  await begin('removed');
  await replay('removed');
  await remove('removed.replay-1');
  expect(await list('removed')).toMatchObject({
    left: { bad_timestamp: '0 of 2' },
    replays: ['removed.replay-1 removed 3, left undefined'],
  });
  expect(await replay('removed')).toMatchObject({ kind: 'nothing_to_replay' });
  expect(await verify('removed')).toEqual(equal(5));
});

it('knows the files and the reason of a replay of an earlier version', async () => {
  await begin('old');
  await replay('old', { reason: 'bad_timestamp' });
  const { staging } = lab.runtime;
  for await (const { key } of staging.list(layout('old.replay-1').origins)) await staging.remove(key);
  expect(await list('old')).toMatchObject({
    left: { bad_timestamp: '0 of 2', same_id_other_content: '1 of 1' },
  });
  expect(await replay('old')).toMatchObject({ report: { counts: { read: 2 } } });
  expect(await verify('old')).toEqual(equal(5));
});

const remove = (name: string) =>
  removeMigration(lab.runtime, name, {
    resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime),
  });
