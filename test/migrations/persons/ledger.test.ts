import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseStoredManifest } from '../../../config/manifest/load-manifest.ts';
import { loadStoredManifest } from '../../../src/migrations/manifest/stored-manifest.ts';
import { removeFacts } from '../../../src/migrations/persons/remove-facts.ts';
import { findHeld, sendHeldPersons } from '../../../src/migrations/persons/send-held.ts';
import { planMigration } from '../../../src/migrations/plan.ts';
import { replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { loadReport } from '../../../src/migrations/report.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import type { RunStatus } from '../../../src/migrations/run/run-status.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { createMigrationReader } from '../../../src/migrations/status/status.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { toRangeKey } from '../../../src/state/keys/turn.ts';
import { toLedgerAccess } from '../../../src/state/ledger/ledger.ts';
import { clearStaging } from '../../../src/state/migrations.ts';
import { createPersonsBench, getReport, type PersonsBench, runOptions, type Seen } from './persons-bench.ts';

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

const overwrite = { people: { overwrite: true } };
const hold = { persons: 'hold' };

const remove = async (name: string, options: { forget: boolean }, { runtime } = bench) => {
  const { staging, now } = runtime;
  const { manifest } = await loadStoredManifest(staging, name);
  const resolveIts = () => resolveLedger(manifest, runtime);
  await removeFacts(name, options, { staging, now, signal: runOptions.signal, resolveLedger: resolveIts });
};

async function release(...names: string[]) {
  const held = await findHeld(bench.runtime.staging, { kind: 'names', names });
  if (!held) throw new Error('nothing is held');
  return sendHeldPersons(bench.runtime, held, runOptions);
}

it('a value that comes back on one day arrives over three migrations', async () => {
  const project = bench.project('back');
  for (const [hour, plan] of ['free', 'paid', 'free'].entries()) {
    const seen = { user: 'zoe', plan, company: 'zoo', size: plan, time: `2021-01-01T1${hour}:00:00Z` };
    await bench.run(`back-${hour}`, [seen], { ...overwrite, destination: project });
    expect(bench.takeSent().properties).toEqual([JSON.stringify({ id: 'zoe', $set: { plan } })]);
  }
  expect(bench.listGroups().filter((one) => one.startsWith('zoo'))).toHaveLength(3);
});

describe('two migrations to one destination', () => {
  it('do not merge a device that they share, and report what was merged before that was known', async () => {
    const first = await bench.run('y2021', [
      { user: 'alice', device: 'tablet', time: '2021-02-01T00:00:00Z' },
    ]);
    expect(first.people).toMatchObject({ pairs: 1, setAside: {} });
    expect(bench.takeSent().merges).toEqual(['tablet → alice']);

    const second = await bench.run('y2022', [
      { user: 'bob', device: 'tablet' },
      { user: 'bob', device: 'phone' },
    ]);
    expect(bench.takeSent().merges).toEqual(['phone → bob']);
    expect(second.people).toMatchObject({
      pairs: 1,
      setAside: { contradicted_merge: 1 },
      setAsideSample: [{ reason: 'contradicted_merge', id: 'tablet', users: ['bob'], userCount: 1 }],
    });
  });

  it('send after a top-up what is new about persons, and merge no device that it shows as shared', async () => {
    const seen = [{ user: 'erin', device: 'foyer', plan: 'old', time: '2021-02-01T00:00:00Z' }];
    const loaded = await bench.write('topped', seen, overwrite);
    await startMigration(bench.runtime, loaded, runOptions);
    expect(bench.takeSent()).toEqual({
      merges: ['foyer → erin'],
      properties: ['{"id":"erin","$set":{"plan":"old"}}'],
    });
    const added = [
      { n: 'topped-8', e: 'counted', user: 'finn', device: 'foyer', t: '2022-01-01T00:00:00Z' },
      { n: 'topped-9', e: 'counted', user: 'erin', device: 'van', t: '2022-01-02T00:00:00Z', plan: 'new' },
    ];
    const lines = added.map((record) => `${JSON.stringify(record)}\n`).join('');
    writeFileSync(join(loaded.baseDir, 'topped', 'b.json'), lines);
    const topUp = { ...runOptions, topUp: true };
    const report = getReport(await startMigration(bench.runtime, loaded, topUp));
    expect(report.people.setAside).toEqual({ contradicted_merge: 1 });
    expect(bench.takeSent()).toEqual({
      merges: ['van → erin'],
      properties: ['{"id":"erin","$set":{"plan":"new"}}'],
    });
    await startMigration(bench.runtime, loaded, topUp);
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
  });

  it('are planned in full with what the ledger knows, which learns nothing from a plan', async () => {
    const { staging, env } = bench.runtime;
    const project = { destination: bench.project('planned') };
    const context = { ...bench.runtime, openStaging: async () => staging };
    const plan = async (name: string, seen: Parameters<typeof bench.run>[1]) => {
      const loaded = await bench.write(name, seen, { ...project, ...overwrite });
      const full = { env, signal: runOptions.signal };
      const planned = await planMigration(context, loaded, { recordsPerFile: 10, full });
      return planned.kind === 'planned' ? planned.full?.people : undefined;
    };
    const ledgers = async () => {
      const keys = [];
      for await (const { key } of staging.list('_ledgers/')) keys.push(key);
      return keys;
    };
    const before = await ledgers();
    const seen = [{ user: 'wanda', device: 'bench', plan: 'new', time: '2022-02-01T00:00:00Z' }];
    expect(await plan('planned-1', seen)).toMatchObject({ pairs: 1, persons: 1, setAside: {} });
    expect(await ledgers()).toEqual(before);
    await bench.run('planned-1', seen, { ...project, ...overwrite });
    const entered = await ledgers();

    // The device is another user's by then, and of wanda's plan there is a newer value.
    const later = [
      { user: 'xaver', device: 'bench' },
      { user: 'xaver', device: 'satchel' },
      { user: 'wanda', plan: 'old', time: '2021-02-01T00:00:00Z' },
    ];
    const expected = { pairs: 1, persons: 0, setAside: { contradicted_merge: 1 } };
    expect(await plan('planned-2', later)).toMatchObject(expected);
    expect(await ledgers()).toEqual(entered);
    const report = await bench.run('planned-2', later, { ...project, ...overwrite });
    expect(report.people).toMatchObject(expected);
    bench.takeSent();
  });

  it('send a property that replaces live ones only where it is newer', async () => {
    await bench.run('new', [{ user: 'dora', plan: 'new', time: '2022-02-01T00:00:00Z' }], overwrite);
    expect(bench.takeSent().properties).toEqual(['{"id":"dora","$set":{"plan":"new"}}']);
    await bench.run('old', [{ user: 'dora', plan: 'old', time: '2021-02-01T00:00:00Z' }], overwrite);
    expect(bench.takeSent().properties).toEqual([]);
    await bench.run('newest', [{ user: 'dora', plan: 'newest', time: '2023-02-01T00:00:00Z' }], overwrite);
    expect(bench.takeSent().properties).toEqual(['{"id":"dora","$set":{"plan":"newest"}}']);
  });

  it('are told apart by the project that they name, and by nothing else but the key', async () => {
    const destination = (project: string) => ({
      destination: bench.project(project),
    });
    const seen = (user: string): Seen[] => [{ user, device: 'kiosk' }];
    await bench.run('p1', seen('erin'), destination('one'));
    await bench.run('p2', seen('frank'), destination('two'));
    expect(bench.takeSent().merges).toEqual(['kiosk → erin', 'kiosk → frank']);
    await bench.run('p3', seen('gina'), destination('one'));
    expect(bench.takeSent().merges).toEqual([]);
  });
});

describe('a replay of one reject', () => {
  it('merges no device that the migration knows as shared, and rolls no property back', async () => {
    const seen: Seen[] = [
      ...['hans', 'ida', 'jan'].map((user) => ({ user, device: 'till' })),
      { user: 'hans', device: 'till', plan: 'older', time: '03/01/2021' }, // what the corrected manifest reads
      { user: 'hans', plan: 'newer', time: '2022-03-01T00:00:00Z' },
    ];
    const report = await bench.run('shop', seen, overwrite);
    expect(report).toMatchObject({ counts: { rejected: 1 }, people: { setAside: { shared_device: 1 } } });
    expect(bench.takeSent()).toEqual({ merges: [], properties: ['{"id":"hans","$set":{"plan":"newer"}}'] });

    const { manifest, baseDir } = await loadStoredManifest(bench.runtime.staging, 'shop');
    const corrected = parseStoredManifest(
      JSON.parse(JSON.stringify(manifest).replace(/"format":"[^"]*"/, '"format":"dd/MM/yyyy"')),
      '',
    );
    const replayed = await replayRejects(
      bench.runtime,
      'shop',
      { loaded: { manifest: corrected, baseDir } },
      runOptions,
    );
    expect(getReport(replayed)).toMatchObject({
      counts: { delivered: 1 },
      people: { pairs: 0, setAside: { shared_device: 1 } },
    });
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
  });
});

describe('persons: hold', () => {
  const y1: Seen[] = [
    { user: 'karl', device: 'desk', plan: 'old', time: '2021-03-01T00:00:00Z' },
    { user: 'karl', device: 'laptop', time: '2021-03-01T00:00:00Z' },
  ];
  const y2: Seen[] = [
    { user: 'lena', device: 'desk' },
    { user: 'karl', plan: 'new' },
  ];

  it('sends nothing about persons until all are released, and then what one migration would have sent', async () => {
    const held = await bench.run('h1', y1, hold);
    expect(held.people).toMatchObject({ held: true, pairs: 0, persons: 0, events: { sent: 0 } });
    await bench.run('h2', y2, hold);
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });

    const result = await release('h2', 'h1');
    expect(result).toMatchObject({ kind: 'finished', migration: 'h1.persons-1' });
    expect(getReport(result).people).toMatchObject({ pairs: 1, persons: 1, setAside: { shared_device: 1 } });
    expect(bench.takeSent()).toEqual({
      merges: ['laptop → karl'],
      properties: ['{"id":"karl","$set_once":{"plan":"new"}}'],
    });
    // Its report is of before, and what was held then has been sent.
    const { people } = await loadReport(bench.runtime, 'h1');
    expect([people.held, people.releasedBy]).toEqual([undefined, 'h1.persons-1']);
    const reader = await createMigrationReader(bench.runtime, 'h1');
    expect((await reader.readView()).report?.people.releasedBy).toBe('h1.persons-1');
    expect(getReport(await resumeMigration(bench.runtime, 'h1', runOptions)).people).toMatchObject({
      releasedBy: 'h1.persons-1',
    });
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
    const find = (...names: string[]) => findHeld(bench.runtime.staging, { kind: 'names', names });
    expect(await find('h2', 'h1')).toBeUndefined(); // the same command again
  });

  it('is shown by who looked on while it was held, once it was sent', async () => {
    const where = { ...hold, destination: bench.project('looking') };
    await bench.run('l1', [{ user: 'ruth', device: 'desk' }], where);
    const reader = await createMigrationReader(bench.runtime, 'l1');
    const look = async () => (await reader.readView()).report?.people;
    expect(await look()).toMatchObject({ held: true });
    await release('l1');
    expect(await look()).toMatchObject({ releasedBy: 'l1.persons-1' });
    expect(await look()).not.toHaveProperty('held');
    bench.takeSent();
  });

  it('goes without migrations that say nothing of persons, and says which', async () => {
    const where = { ...hold, destination: bench.project('without') };
    await bench.run('w1', [{ user: 'ines', device: 'tram' }], where);
    await bench.run('w2', [{ device: 'tram' }], where);
    const find = (...names: string[]) => findHeld(bench.runtime.staging, { kind: 'names', names });
    await expect(find('w2')).rejects.toThrow('"w2" holds no persons');
    expect(await find('w2', 'w1')).toMatchObject({ names: ['w1'], without: ['w2'] });

    const loaded = await bench.write('w3', [{ user: 'jan' }], where);
    const stop = new AbortController();
    const options = { ...runOptions, signal: stop.signal, onBegin: () => stop.abort(new Error('enough')) };
    await startMigration(bench.runtime, loaded, options);
    await expect(find('w1', 'w2', 'w3')).rejects.toThrow('"w3" holds its persons and has not finished');

    await release('w1', 'w2');
    expect(bench.takeSent().merges).toEqual(['tram → ines']);
    expect(await find('w1', 'w2')).toBeUndefined(); // the same command again
    await resumeMigration(bench.runtime, 'w3', runOptions);
    await release('w3');
    bench.takeSent();
  });

  it('is not forgotten by a migration that another one took into account before it noted its facts', async () => {
    const project = { destination: bench.project('overtaken') };
    const held = { ...hold, ...project };
    const loaded = await bench.write('o1', [{ user: 'rosa', device: 'loft', plan: 'old' }], held);
    const interrupted = async (options: object) => {
      const stop = new AbortController();
      const onStatus = ({ phase }: RunStatus) => {
        if (phase === 'people') stop.abort(new Error('enough'));
      };
      return startMigration(bench.runtime, loaded, {
        ...runOptions,
        ...options,
        signal: stop.signal,
        onStatus,
      });
    };
    expect(await interrupted({})).toMatchObject({ kind: 'stopped' });
    await bench.run('o2', [{ user: 'sven', device: 'attic' }], held);
    expect(getReport(await startMigration(bench.runtime, loaded, runOptions)).people.held).toBe(true);
    await release('o1', 'o2');
    const sent = {
      merges: ['attic → sven', 'loft → rosa'],
      properties: ['{"id":"rosa","$set_once":{"plan":"old"}}'],
    };
    expect(bench.takeSent()).toEqual(sent);

    // The same with what a top-up adds after a release.
    bench.addFile(loaded, 'b.json', [{ user: 'rosa', device: 'cellar' }]);
    expect(await interrupted({ topUp: true })).toMatchObject({ kind: 'stopped' });
    await bench.run('o3', [{ user: 'sven', device: 'roof' }], held);
    await startMigration(bench.runtime, loaded, runOptions);
    await release('o1', 'o3');
    expect(bench.takeSent().merges).toEqual(['cellar → rosa', 'roof → sven']);
  });

  it('is taken into account by migrations that do not hold', async () => {
    await bench.run('h3', [{ user: 'mona', device: 'cart' }], hold);
    const report = await bench.run('now', [{ user: 'nils', device: 'cart' }]);
    expect(bench.takeSent().merges).toEqual([]);
    expect(report.people.setAside).toEqual({ shared_device: 1 });
  });

  it('is selected by the destination, and needs settings that agree', async () => {
    const { staging } = bench.runtime;
    const byAddress = { kind: 'address' as const, address: bench.destination.url };
    expect((await findHeld(staging, byAddress))?.names).toEqual(['h3']);
    const named = (...names: string[]) => findHeld(staging, { kind: 'names', names });
    await expect(named('h1', 'h3')).rejects.toThrow('they were sent by h1.persons-1');
    await expect(named('p1')).rejects.toThrow('its manifest does not say `persons: hold`');
    await bench.run('h4', [{ user: 'olga', device: 'watch' }], { ...hold, ...overwrite });
    await expect(findHeld(staging, byAddress)).rejects.toThrow('different settings under people');
    const { manifest } = await loadStoredManifest(staging, 'h4');
    const elsewhere = { ...manifest, destination: { url: 'http://127.0.0.1:9', apiKey: '${KEY}' } };
    expect(await findHeld(staging, { kind: 'manifest', manifest: elsewhere })).toBeUndefined();
    await release('h4');
    expect(bench.takeSent().merges).toEqual(['watch → olga']);
    const written = { people: { sharedDevices: 'none', overwrite: false } };
    await bench.run('h5', [{ user: 'pia', device: 'dial' }], { ...hold, ...written });
    expect((await findHeld(staging, byAddress))?.names).toEqual(['h3', 'h5']);
  });
});

describe('the facts of a migration', () => {
  /** Ends the run once so many jobs about persons are done. */
  async function stopAt(name: string, seen: readonly Seen[], jobs: number, manifest?: object) {
    const stop = new AbortController();
    const options = {
      signal: stop.signal,
      importHere: true,
      onStatus: ({ phase, personJobs }: RunStatus) => {
        if (phase === 'people' && personJobs.done >= jobs) stop.abort(new Error('enough'));
      },
    };
    const loaded = await bench.write(name, seen, manifest);
    expect(await startMigration(bench.runtime, loaded, options)).toMatchObject({ kind: 'stopped' });
  }
  const resume = async (name: string) =>
    getReport(await resumeMigration(bench.runtime, name, runOptions)).people;

  it('count from the moment on that its events are in', async () => {
    await stopAt('open', [{ user: 'paul', device: 'scanner' }], 0);
    const report = await bench.run('other', [{ user: 'quin', device: 'scanner' }]);
    expect(report.people).toMatchObject({ pairs: 0, setAside: { shared_device: 1 } });
    expect(await resume('open')).toMatchObject({ pairs: 0, setAside: { shared_device: 1 } });
    expect(bench.takeSent().merges).toEqual([]);
  });

  it('are sent by the resume of a run that was killed between deciding and sending', async () => {
    await stopAt('cut', [{ user: 'rosa', device: 'lamp', plan: 'a' }], 1, overwrite);
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
    expect(await resume('cut')).toMatchObject({ pairs: 1, persons: 1 });
    expect(bench.takeSent()).toEqual({
      merges: ['lamp → rosa'],
      properties: ['{"id":"rosa","$set":{"plan":"a"}}'],
    });
    expect(await resume('cut')).toMatchObject({ pairs: 1, persons: 1 });
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
  });

  it('are decided again where another migration came between deciding and sending', async () => {
    await stopAt('early', [{ user: 'sven', device: 'radio' }], 1);
    await bench.run('between', [{ user: 'tina', device: 'radio' }]);
    expect(await resume('early')).toMatchObject({ pairs: 0, setAside: { shared_device: 1 } });
    expect(bench.takeSent().merges).toEqual([]);
  });

  it('are taken in with what version 0.1.0 sent of them, which had no ledger', async () => {
    const { staging } = bench.runtime;
    const project = { destination: bench.project('old') };
    const seen = [{ user: 'uma', device: 'tv', plan: 'new', time: '2022-05-01T00:00:00Z' }];
    await bench.run('old-one', seen, { ...project, ...overwrite });
    expect(bench.takeSent().merges).toEqual(['tv → uma']);
    // As that version left it: receipts of ranges of buckets, and no ledger.
    const { id } = toLedgerAccess({ url: bench.destination.url, project: 'old', apiKey: '' });
    await clearStaging(staging, ledgerLayout(id).prefix);
    await clearStaging(staging, 'old-one/people/');
    const people = { pairs: 1, persons: 1, groups: 0, setAside: {}, setAsideSample: [] };
    const keys = layout('old-one');
    const range = { from: 0, to: 64 };
    await staging.put(
      toRangeKey(keys.resolved, range),
      encodeDocument({ findings: [], people: { ...people, pairs: 0, persons: 0 } }),
    );
    await staging.put(
      toRangeKey(keys.folded, range),
      encodeDocument({ people, events: { sent: 2, accepted: 2 }, refused: [] }),
    );

    const report = await bench.run(
      'new-one',
      [
        { user: 'vera', device: 'tv' },
        { user: 'uma', plan: 'old', time: '2021-05-01T00:00:00Z' },
      ],
      { ...project, ...overwrite },
    );
    expect(report.people).toMatchObject({ pairs: 0, persons: 0, setAside: { contradicted_merge: 1 } });
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
    expect(await resume('old-one')).toMatchObject({ pairs: 1, persons: 1, events: { sent: 2 } });
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
  });

  it('still decide after they were removed, because the ledger has their hashes', async () => {
    const { staging } = bench.runtime;
    await bench.run('gone', [
      { user: 'yann', device: 'bike', plan: 'new' },
      { user: 'yann', device: 'boat' },
    ]);
    await remove('gone', { forget: false });
    await remove('gone', { forget: false }); // nothing more to do
    for (const folder of layout('gone').facts)
      for await (const { key } of staging.list(folder)) throw new Error(`${key} is left`);
    bench.takeSent();
    const report = await bench.run(
      'after',
      [
        { user: 'zora', device: 'bike' },
        { user: 'yann', device: 'boat', plan: 'old', time: '2021-01-01T00:00:00Z' },
      ],
      overwrite,
    );
    expect(report.people).toMatchObject({ mergedBefore: 1, setAside: { contradicted_merge: 1 } });
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });

    await bench.run('waits', [{ user: 'adam', device: 'dock' }], hold);
    await expect(remove('waits', { forget: false })).rejects.toThrow('holds persons that were not sent');
    await release('waits');
  });

  it('that are gone before a ledger knew them keep it from merging anything', async () => {
    // What was removed under the same key would keep it from that, too.
    const own = await createPersonsBench();
    onTestFinished(() => own.close());
    const { staging } = own.runtime;
    const destination = own.project('lost');
    const { id } = toLedgerAccess({ ...destination, apiKey: '' });
    await own.run('lost-1', [{ user: 'beth', device: 'car' }], { destination });
    await clearStaging(staging, ledgerLayout(id).prefix);
    await remove('lost-1', { forget: false }, own); // enters them again first
    const known = await own.run('lost-2', [{ user: 'carl', device: 'car' }], { destination });
    expect(known.people.setAside).toEqual({ contradicted_merge: 1 });

    await clearStaging(staging, ledgerLayout(id).prefix);
    // An earlier version did not note which ledger knew them.
    await staging.put(layout('lost-1').factsRemoved, encodeDocument({ at: '2024-01-01T00:00:00.000Z' }));
    const lost = await own.run('lost-3', [{ user: 'carl', device: 'van' }], { destination });
    expect(lost.people).toMatchObject({ pairs: 0, setAside: { ledger_forgotten: 1 } });
  });

  it('merge nothing any more once the ledger was forgotten', async () => {
    const destination = bench.project('forgotten');
    await bench.run('f1', [{ user: 'will', device: 'fridge', plan: 'new' }], { destination });
    await remove('f1', { forget: true });
    bench.takeSent();
    const { people } = await bench.run(
      'f2',
      [
        { user: 'will', device: 'oven', plan: 'old', time: '2021-01-01T00:00:00Z' },
        { user: 'xena', plan: 'p' },
      ],
      { destination, ...overwrite },
    );
    expect(people).toMatchObject({ pairs: 0, setAside: { ledger_forgotten: 1 } });
    expect(bench.takeSent()).toEqual({
      merges: [],
      properties: ['{"id":"will","$set_once":{"plan":"old"}}', '{"id":"xena","$set_once":{"plan":"p"}}'],
    });
  });
});
