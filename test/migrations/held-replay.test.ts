import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findHeld, sendHeldPersons } from '../../src/migrations/persons/send-held.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { startMigration } from '../../src/migrations/start.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { importing, type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const record = (n: string, t: string) =>
  JSON.stringify({ e: 'counted', u: `held-${n}`, d: `device-${n}`, t, n, plan: 'pro' });

const HELD = {
  source: {
    type: 'jsonl',
    from: 'held/*.json',
    mapping: {
      event: { column: 'e' },
      distinctId: { column: 'u' },
      anonymousId: { column: 'd' },
      timestamp: { column: 't' },
      key: ['n'],
      person: { set: { columns: ['plan'] } },
    },
  },
  persons: 'hold',
};

it('is refused before it begins where its persons could not be sent together with those of its migration', async () => {
  const loaded = await lab.writeManifest('held', HELD);
  lab.writeFile('held', 'a.json', [record('1', '2024-02-03T04:05:06Z'), record('2', 'yesterday')]);
  await startMigration(lab.runtime, loaded, importing());

  const { staging } = lab.runtime;
  const mapping = { ...HELD.source.mapping, values: { t: { yesterday: '2024-02-02T04:05:06Z' } } };
  const repaired = { ...HELD, source: { ...HELD.source, mapping } };
  const replay = async (more: object, again = false) =>
    replayRejects(
      lab.runtime,
      'held',
      { loaded: await lab.writeManifest('held', { ...repaired, ...more }), again },
      importing(),
    );
  await expect(replay({ people: { overwrite: true } })).rejects.toThrow(
    /holds its persons[\s\S]*people\.overwrite: was false, is now true[\s\S]*"backhaul persons send held"/,
  );
  expect(await loadMigration(staging, 'held.replay-1')).toBeUndefined();

  // Both steps that it names work.
  expect(await replay({})).toMatchObject({ kind: 'finished', report: { counts: { delivered: 1 } } });
  const names = ['held', 'held.replay-1'];
  const release = (await findHeld(staging, { kind: 'names', names })) ?? expect.fail('nothing is held');
  expect(await sendHeldPersons(lab.runtime, release, importing())).toMatchObject({
    report: { people: { pairs: 2, persons: 2 } },
  });
  expect(await replay({ people: { overwrite: true } }, true)).toMatchObject({ kind: 'finished' });
});

/** `failAbove` holds them, as no manifest says that they are held. Of the columns `uu` and `dd` the first map knows nothing. */
const OTHER_COLUMNS = {
  ...HELD,
  persons: 'send',
  rejects: { failAbove: '1%' },
};
const corrected = (name: string) => {
  const mapping = { ...HELD.source.mapping, distinctId: { column: 'uu' }, anonymousId: { column: 'dd' } };
  return { ...OTHER_COLUMNS, source: { ...HELD.source, from: `${name}/*.json`, mapping } };
};
const other = (n: string, user: string) =>
  JSON.stringify({ e: 'counted', uu: user, dd: `device-${n}`, t: '2024-02-03T04:05:06Z', n });

/** Imports a record that a second map reads, and one that nobody can read and that names another user of its device. */
async function importUnread(name: string, lines: readonly string[]) {
  const manifest = { ...OTHER_COLUMNS, source: { ...HELD.source, from: `${name}/*.json` } };
  const loaded = await lab.writeManifest(name, manifest);
  lab.writeFile(name, 'a.json', [...lines, other(name, 'ada'), other(name, 'bob').slice(0, -1)]);
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({
    kind: 'rejects_above_threshold',
    report: { byReason: { no_identity: 1, unreadable: 1 } },
  });
  const replay = async (of: string, more: object, reason?: string) =>
    replayRejects(lab.runtime, of, { loaded: await lab.writeManifest(name, more), reason }, importing());
  return { manifest, replay };
}

it('holds its persons where the replay that it is of had nothing to hold', async () => {
  const { manifest, replay } = await importUnread('chain', [record('chain', '2024-02-03T04:05:06Z')]);
  await replay('chain', { ...manifest, rejects: { failAbove: '100%' } }, 'no_identity');
  expect(await replay('chain.replay-1', corrected('chain'))).toMatchObject({
    kind: 'finished',
    report: { counts: { delivered: 1 }, people: { held: true, pairs: 0 } },
  });
  const release =
    (await findHeld(lab.runtime.staging, { kind: 'names', names: ['chain'] })) ??
    expect.fail('nothing is held');
  expect(release.names).toEqual(['chain', 'chain.replay-1.replay-1']);
});

it('holds its persons where its migration rejected too much and knows nobody', async () => {
  const { replay } = await importUnread('nobody', []);
  expect(await replay('nobody', corrected('nobody'), 'no_identity')).toMatchObject({
    kind: 'finished',
    report: { counts: { delivered: 1 }, people: { held: true, pairs: 0 } },
  });
  const release =
    (await findHeld(lab.runtime.staging, { kind: 'names', names: ['nobody'] })) ??
    expect.fail('nothing is held');
  expect(release).toMatchObject({ names: ['nobody.replay-1'], without: ['nobody'] });
  expect(await sendHeldPersons(lab.runtime, release, importing())).toMatchObject({
    report: { people: { pairs: 1 } },
  });
});

it('is not begun while a file of the first migration is imported, also where a replay is between both', async () => {
  const { manifest, replay } = await importUnread('growing', [record('growing', '2024-02-03T04:05:06Z')]);
  const lenient = { ...manifest, rejects: { failAbove: '100%' } };
  await replay('growing', lenient, 'no_identity');

  const loaded = await lab.writeManifest('growing', lenient);
  rmSync(join(lab.workplace.folder, 'growing', 'a.json'));
  lab.writeFile('growing', 'b.json', [record('more', '2024-02-03T04:05:06Z')]);
  const stop = new AbortController();
  await startMigration(lab.runtime, loaded, {
    ...importing({ topUp: true, signal: stop.signal, importHere: false }),
    onStatus: ({ parts }) => {
      if (parts.known === 2) stop.abort(new Error('the file is staged'));
    },
  });
  await expect(replay('growing.replay-1', corrected('growing'))).rejects.toThrow(
    /"growing" has not finished[\s\S]*"backhaul resume growing"/,
  );
  expect(await loadMigration(lab.runtime.staging, 'growing.replay-1.replay-1')).toBeUndefined();
});
