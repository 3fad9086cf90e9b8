import { afterAll, beforeAll, expect, it } from 'vitest';
import { cancelMigration } from '../../../src/migrations/control.ts';
import { replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { importing, keyedSource, type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';

/* Whatever was removed of a migration and its replays, nothing that is sent later takes the place of an event. */

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const record = (n: string, v: number, t = '2024-02-03T04:05:06Z') =>
  JSON.stringify({ e: 'counted', u: 'ann', t, n, v });

/** Of a replay, the destination takes everything else before it refuses the key; the replay is then given up. */
async function giveUp(replay: () => Promise<unknown>, name: string, refused: string) {
  lab.destination.overrule((_, batch) =>
    batch.includes(refused) ? { status: 401, body: '{"detail":"no"}' } : undefined,
  );
  expect(await replay()).toMatchObject({ kind: 'held', migration: name });
  lab.destination.overrule(undefined);
  await cancelMigration(lab.runtime, name, 'not wanted');
}

const remove = (name: string, keepRejects: boolean) =>
  removeMigration(lab.runtime, name, {
    keepRejects,
    resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime),
  });

const countKept = async (name: string): Promise<number> => {
  let kept = 0;
  for await (const _ of lab.runtime.staging.list(layout(name).allFingerprints)) kept += 1;
  return kept;
};

const SENT_BY_REMOVED = 'same_id_other_content';

/** A migration whose records share ids, and what is done to it. */
async function open(name: string, lines: readonly string[]) {
  const write = async (late: readonly string[] = []) => {
    const limits = { batch: { events: 1 }, requestsInFlight: 1 };
    const words = { source: keyedSource(name, late), rejects: { failAbove: '100%' }, limits };
    const written = await lab.writeManifest(name, words);
    lab.writeFile(name, 'a.json', lines);
    return written;
  };
  const loaded = await write();
  await startMigration(lab.runtime, loaded, importing());
  return {
    topUp: (file: string, more: readonly string[]) => {
      lab.writeFile(name, file, more);
      return startMigration(lab.runtime, loaded, importing({ topUp: true }));
    },
    replay: async (of: string, late: readonly string[] = []) =>
      replayRejects(lab.runtime, of, { loaded: await write(late) }, importing()),
    arrived: () =>
      [...lab.destination.events().values()]
        .map(({ properties }) => `${String(properties['n'])} ${String(properties['v'])}`)
        .filter((text) => text.startsWith(`${name}-`))
        .toSorted(),
  };
}

it('sends a reject that has the id of a delivered record under an id of its own, once those are gone', async () => {
  const { replay, arrived } = await open('gone', [
    record('gone-1', 1),
    record('gone-1', 2, 'late'),
    record('gone-1', 2, 'late'),
    record('gone-1', 1, 'late'),
    record('gone-2', 3, 'late'),
    record('gone-3', 4, 'never'),
    '{',
  ]);
  await remove('gone', true);
  expect(await countKept('gone')).toBe(1);

  // Nothing takes the place of what was delivered: it is not sent under that id.
  expect(await replay('gone', ['late'])).toMatchObject({
    kind: 'finished',
    report: {
      counts: { read: 6, delivered: 2, rejected: 4 },
      byReason: { [SENT_BY_REMOVED]: 2 },
    },
  });
  expect(arrived()).toEqual(['gone-1 1', 'gone-2 3']);
  expect(await replay('gone.replay-1', ['late'])).toMatchObject({
    report: { counts: { delivered: 1, duplicate: 1, rejected: 2 } },
  });
  expect(arrived()).toEqual(['gone-1 1', 'gone-1 2', 'gone-2 3']);
});

it('keeps what a removed replay has delivered from being replaced by a top-up', async () => {
  const { topUp, replay, arrived } = await open('topped', [record('topped-1', 1, 'late')]);
  expect(await replay('topped', ['late'])).toMatchObject({ report: { counts: { delivered: 1 } } });
  await remove('topped.replay-1', false);

  expect(await topUp('b.json', [record('topped-1', 2), record('topped-2', 3)])).toMatchObject({
    report: { balanced: true, counts: { delivered: 1, rejected: 2 }, byReason: { [SENT_BY_REMOVED]: 1 } },
  });
  expect(arrived()).toEqual(['topped-1 1', 'topped-2 3']);
  expect(await replay('topped')).toMatchObject({ report: { counts: { read: 1, delivered: 1 } } });
  expect(arrived()).toEqual(['topped-1 1', 'topped-1 2', 'topped-2 3']);
});

it('leaves the counts of a migration as they are when a replay that rejected records is removed', async () => {
  const { topUp, replay } = await open('counted', [record('counted-1', 1), record('counted-1', 2, 'late')]);
  expect(await replay('counted', ['late'])).toMatchObject({
    report: { counts: { rejected: 1 }, byReason: { [SENT_BY_REMOVED]: 1 } },
  });
  await remove('counted.replay-1', false);
  // Once it has ended, another call changes nothing.
  await remove('counted.replay-1', false);
  expect(await countKept('counted.replay-1')).toBe(1);
  expect(await topUp('b.json', [record('counted-2', 3)])).toMatchObject({
    report: { counts: { delivered: 2, rejected: 1 } },
  });
});

it('keeps hashes of what was delivered as long as any of a family is left, and no record', async () => {
  const { replay } = await open('family', [record('family-1', 1), record('family-2', 2, 'late')]);
  await replay('family', ['later']);
  await replay('family.replay-1', ['late']);
  await remove('family', false);
  await remove('family.replay-1.replay-1', false);
  expect([await countKept('family'), await countKept('family.replay-1.replay-1')]).toEqual([1, 1]);
  for (const name of ['family', 'family.replay-1.replay-1'])
    for await (const { key } of lab.runtime.staging.list(layout(name).prefix))
      expect(String(await lab.runtime.staging.get(key))).not.toMatch(/family-[12]\b/);

  // Its rejects can still be replayed.
  await remove('family.replay-1', true);
  expect(await countKept('family')).toBe(1);
  await remove('family.replay-1', false);
  for (const name of ['family', 'family.replay-1', 'family.replay-1.replay-1'])
    expect(await countKept(name)).toBe(0);
});

it('drops these hashes with all that is known of a migration', async () => {
  const { replay } = await open('forgotten', [record('forgotten-1', 1, 'late')]);
  await replay('forgotten', ['late']);
  await remove('forgotten.replay-1', false);
  expect(await countKept('forgotten.replay-1')).toBe(1);
  await removeMigration(lab.runtime, 'forgotten.replay-1', {
    forget: true,
    resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime),
  });
  expect(await countKept('forgotten.replay-1')).toBe(0);
});

it('removes nothing whose events one under way may have replaced', async () => {
  const { replay, topUp, arrived } = await open('under-way', [
    record('under-way-1', 1),
    record('under-way-1', 2, 'late'),
  ]);
  lab.destination.overrule({ status: 401, body: '{"detail":"no"}' });
  expect(await replay('under-way', ['late'])).toMatchObject({ kind: 'held' });
  const refusal = '"under-way.replay-1" has not finished, and an event of it may have the uuid of one';
  await expect(remove('under-way', true)).rejects.toThrow(refusal);
  lab.destination.overrule(undefined);
  expect(await resumeMigration(lab.runtime, 'under-way.replay-1', importing())).toMatchObject({
    report: { byReason: { [SENT_BY_REMOVED]: 1 } },
  });

  lab.destination.overrule({ status: 401, body: '{"detail":"no"}' });
  expect(await topUp('b.json', [record('under-way-2', 3)])).toMatchObject({ kind: 'held' });
  await expect(remove('under-way.replay-1', true)).rejects.toThrow('"under-way" has not finished');
  lab.destination.overrule(undefined);
  // One that was given up holds nobody up.
  await cancelMigration(lab.runtime, 'under-way', 'not wanted');
  await remove('under-way.replay-1', true);
  expect(arrived()).toEqual(['under-way-1 1']);
});

it('forgets nothing that one under way is compared with', async () => {
  const { replay, arrived } = await open('kept-on', [record('kept-on-1', 1), record('kept-on-1', 2, 'late')]);
  lab.destination.overrule({ status: 401, body: '{"detail":"no"}' });
  expect(await replay('kept-on', ['late'])).toMatchObject({ kind: 'held' });
  lab.destination.overrule(undefined);
  const forget = () =>
    removeMigration(lab.runtime, 'kept-on', {
      forget: true,
      resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime),
    });
  await expect(forget()).rejects.toThrow('"kept-on.replay-1" has not finished');
  expect(await countKept('kept-on')).toBe(1);
  expect(await resumeMigration(lab.runtime, 'kept-on.replay-1', importing())).toMatchObject({
    report: { counts: { rejected: 1 }, byReason: { [SENT_BY_REMOVED]: 1 } },
  });
  await forget();
  expect(arrived()).toEqual(['kept-on-1 1']);
});

it('removes nothing where a replay has its record, and no producer yet', async () => {
  const { replay } = await open('about', [record('about-1', 1), record('about-1', 2, 'late')]);
  await replay('about', ['late']);
  const { staging } = lab.runtime;
  for await (const { key } of staging.list(layout('about.replay-1').controls)) await staging.remove(key);
  await expect(remove('about', false)).rejects.toThrow('"about.replay-1" has not finished');
});

it('removes nothing where one was resumed while its facts were entered', async () => {
  const { replay } = await open('resumed', [record('resumed-1', 1), record('resumed-1', 2, 'late')]);
  lab.destination.overrule({ status: 401, body: '{"detail":"no"}' });
  await replay('resumed', ['late']);
  await cancelMigration(lab.runtime, 'resumed.replay-1', 'not wanted');
  const { staging } = lab.runtime;
  const keys = layout('resumed');
  let isResumed = false;
  const get: typeof staging.get = async (key) => {
    if (!isResumed && key.startsWith(`${keys.prefix}epochs/`)) {
      isResumed = true;
      await resumeMigration(lab.runtime, 'resumed.replay-1', importing());
    }
    return staging.get(key);
  };
  const meanwhile = { ...lab.runtime, staging: Object.assign(Object.create(staging), { get }) };
  const removing = removeMigration(meanwhile, 'resumed', {
    resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime),
  });
  await expect(removing).rejects.toThrow('"resumed.replay-1" has not finished');
  lab.destination.overrule(undefined);
  expect(isResumed).toBe(true);
});

it('removes nothing whose place an event of a cancelled replay may have taken', async () => {
  const { replay, arrived } = await open('cut', [
    record('cut-1', 1),
    record('cut-1', 2, 'late'),
    record('cut-2', 3, 'late'),
  ]);
  await giveUp(() => replay('cut', ['late']), 'cut.replay-1', '"v":3');
  expect(arrived()).toEqual(['cut-1 1']);
  const refusal =
    'the uuids of 1 such events are those of delivered ones with other content, and without the records of';
  await expect(remove('cut', true)).rejects.toThrow(
    `${refusal} "cut" nobody could send both. Finish it first with "backhaul resume cut.replay-1", or replay what it has left with "backhaul rejects replay cut"`,
  );
  await expect(remove('cut.replay-1', true)).rejects.toThrow(`${refusal} "cut.replay-1"`);

  // Another one takes it over and keeps both.
  expect(await replay('cut', ['late'])).toMatchObject({
    report: { counts: { read: 2, delivered: 1, rejected: 1 } },
  });
  await remove('cut.replay-1', false);
  await remove('cut', false);
  await replay('cut.replay-2', ['late']);
  expect(arrived()).toEqual(['cut-1 1', 'cut-1 1', 'cut-1 2', 'cut-2 3']);
});

it('takes nothing over from a cancelled replay that has to be compared first', async () => {
  const { replay, arrived } = await open('half', [
    record('half-1', 1),
    record('half-1', 2, 'late'),
    record('half-2', 3),
    record('half-2', 4),
  ]);
  await giveUp(() => replay('half', ['late']), 'half.replay-1', '"v":4');
  await expect(replay('half', ['late'])).rejects.toThrow(
    'the uuids of 1 such events are those of delivered ones with other content, so one of each two is missing. Finish it first with "backhaul resume half.replay-1", and replay what it rejects with "backhaul rejects replay half.replay-1"',
  );
  expect(await resumeMigration(lab.runtime, 'half.replay-1', importing())).toMatchObject({
    report: { balanced: true, counts: { read: 3, delivered: 2, rejected: 1 } },
  });
  await replay('half.replay-1', ['late']);
  expect(await replay('half', ['late'])).toMatchObject({ kind: 'nothing_to_replay' });
  expect([...new Set(arrived())]).toEqual(['half-1 1', 'half-1 2', 'half-2 3', 'half-2 4']);
  await remove('half', false);
});

it('keeps what a removed replay may have sent from being replaced', async () => {
  const { replay, topUp, arrived } = await open('begun', [
    record('begun-1', 1, 'late'),
    record('begun-2', 2, 'late'),
  ]);
  await giveUp(() => replay('begun', ['late']), 'begun.replay-1', '"v":2');
  await remove('begun.replay-1', false);
  expect(await countKept('begun.replay-1')).toBe(2);
  expect(await topUp('b.json', [record('begun-1', 3), record('begun-3', 4)])).toMatchObject({
    report: { byReason: { [SENT_BY_REMOVED]: 1 } },
  });
  expect(arrived()).toEqual(['begun-1 1', 'begun-3 4']);
  // What it has sent itself may be sent again.
  expect(await replay('begun', ['late'])).toMatchObject({ report: { counts: { delivered: 3 } } });
  expect(arrived()).toEqual(['begun-1 1', 'begun-1 3', 'begun-2 2', 'begun-3 4']);
  await remove('begun.replay-2', false);
  await remove('begun', false);
  expect(await countKept('begun.replay-1')).toBe(0);
});

it('compares the replays of a migration that was forgotten with one another', async () => {
  const { replay, arrived } = await open('dropped', [
    record('dropped-1', 1, 'late'),
    record('dropped-1', 2, 'later'),
  ]);
  await replay('dropped', ['late']);
  await removeMigration(lab.runtime, 'dropped', {
    forget: true,
    resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime),
  });
  expect(await replay('dropped.replay-1', ['late', 'later'])).toMatchObject({
    report: { counts: { read: 1, rejected: 1 }, byReason: { [SENT_BY_REMOVED]: 1 } },
  });
  await replay('dropped.replay-1.replay-1', ['late', 'later']);
  expect(arrived()).toEqual(['dropped-1 1', 'dropped-1 1', 'dropped-1 2']);
});

it('removes a migration whose name one had whose replays are not over', async () => {
  const { replay, topUp } = await open('named', [
    record('named-1', 1, 'late'),
    record('named-2', 2, 'later'),
  ]);
  await replay('named', ['late']);
  const forget = () =>
    removeMigration(lab.runtime, 'named', {
      forget: true,
      resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime),
    });
  await forget();
  lab.destination.overrule({ status: 401, body: '{"detail":"no"}' });
  expect(await replay('named.replay-1', ['late', 'later'])).toMatchObject({ kind: 'held' });
  lab.destination.overrule(undefined);

  expect(await topUp('b.json', [])).toMatchObject({ kind: 'refused', refusal: 'no_such_migration' });
  await open('named', [record('named-3', 3)]);
  await remove('named', false);
  expect(await resumeMigration(lab.runtime, 'named.replay-1.replay-1', importing())).toMatchObject({
    report: { counts: { delivered: 1 } },
  });
  await forget();
});
