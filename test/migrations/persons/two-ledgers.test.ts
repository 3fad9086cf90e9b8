import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { loadPersons } from '../../../src/migrations/persons/load-persons.ts';
import { findHeld, sendHeldPersons } from '../../../src/migrations/persons/send-held.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { createPersonsBench, getReport, type PersonsBench, runOptions, type Seen } from './persons-bench.ts';

/** A project of which some manifests say the name, and some the key alone: two ledgers know what was sent there. */

let bench: PersonsBench;
beforeEach(async () => {
  bench = await createPersonsBench();
  onTestFinished(() => bench.close());
});

const at = (project?: string) => ({
  destination: {
    url: bench.destination.url,
    apiKey: '${KEY}',
    ...(project === undefined ? {} : { project }),
  },
  people: { overwrite: true },
});

/** Imports events, and is stopped before anything about persons is sent. */
async function stopBeforePersons(name: string, seen: readonly Seen[], manifest: object): Promise<void> {
  const stop = new AbortController();
  const ended = await startMigration(bench.runtime, await bench.write(name, seen, manifest), {
    ...runOptions,
    signal: stop.signal,
    onStatus: ({ phase }) => {
      if (phase === 'people') stop.abort(new Error('stopped here'));
    },
  });
  expect(ended).toMatchObject({ kind: 'stopped' });
}

for (const [first, second] of [
  [undefined, 'shop'],
  ['shop', undefined],
] as const)
  it(`what was sent ${first ? 'by name' : 'by key'} after it was noted ${second ? 'by name' : 'by key'} is known there`, async () => {
    const seen = [{ user: 'rosa', device: 'kiosk', plan: 'new', time: '2023-01-01T00:00:00Z' }];
    await stopBeforePersons('stopped', seen, at(first));
    await bench.run('noting', [{ user: 'sven', plan: 'x' }], at(second));
    getReport(await resumeMigration(bench.runtime, 'stopped', runOptions));
    expect(bench.takeSent()).toMatchObject({ merges: ['kiosk → rosa'] });

    const later = [
      { user: 'rosa', plan: 'old', time: '2020-01-01T00:00:00Z' },
      { user: 'tom', device: 'kiosk', time: '2020-01-01T00:00:00Z' },
      { device: 'kiosk', plan: 'of tom', time: '2024-01-01T00:00:00Z' },
    ];
    const { people } = await bench.run('later', later, at(second));
    expect(people.setAside).toEqual({ contradicted_merge: 1 });
    const { merges, properties } = bench.takeSent();
    expect(merges).toEqual([]);
    expect(properties.filter((one) => one.includes('"$set"'))).toEqual([]);
    expect(properties.join()).not.toContain('of tom');
  });

it('what a release by name began to send of a migration that was held by key is known there', async () => {
  const held = { persons: 'hold' };
  await bench.run('by-key', [{ user: 'rosa', plan: 'new', time: '2023-01-01T00:00:00Z' }], {
    ...at(),
    ...held,
  });
  await bench.run('by-name', [{ user: 'sven', plan: 'x' }], { ...at('shop'), ...held });
  bench.takeSent();
  const release = await findHeld(bench.runtime.staging, { kind: 'names', names: ['by-key', 'by-name'] });
  if (!release) throw new Error('nothing is held');
  // Its turn stays open, because a part of it was refused.
  bench.destination.overrule((_, text) =>
    text.includes('"plan":"x"') ? { status: 400, body: '{"detail":"no"}' } : undefined,
  );
  await sendHeldPersons(bench.runtime, release, runOptions);
  bench.destination.overrule(undefined);
  expect(bench.takeSent().properties.join()).toContain('"plan":"new"');

  const older = [{ user: 'rosa', plan: 'old', time: '2020-01-01T00:00:00Z' }];
  await bench.run('later', older, at());
  expect(bench.takeSent().properties.filter((one) => one.includes('"$set"'))).toEqual([]);
});

for (const [first, second] of [
  [undefined, 'shop'],
  ['shop', undefined],
] as const)
  it(`what is held ${first ? 'by name' : 'by key'} and then ${second ? 'by name' : 'by key'} is sent together`, async () => {
    const held = { persons: 'hold' };
    await bench.run('first', [{ user: 'rosa', device: 'kiosk' }], { ...at(first), ...held });
    await bench.run(
      'second',
      [
        { user: 'tom', device: 'kiosk' },
        { user: 'una', device: 'phone' },
      ],
      {
        ...at(second),
        ...held,
      },
    );
    const release = await findHeld(bench.runtime.staging, { kind: 'names', names: ['first', 'second'] });
    if (!release) throw new Error('nothing is held');
    const { people } = getReport(await sendHeldPersons(bench.runtime, release, runOptions));
    expect(people.setAside).toEqual({ shared_device: 1 });
    expect(bench.takeSent().merges).toEqual(['phone → una']);
  });

it('what was held in many turns by key is held no more once it is released in an early turn by name', async () => {
  const held = { persons: 'hold' };
  const byKey = await bench.write('by-key', [{ user: 'rosa', plan: 'new' }], { ...at(), ...held });
  getReport(await startMigration(bench.runtime, byKey, runOptions));
  await bench.run('by-name', [{ user: 'sven', plan: 'x' }], { ...at('shop'), ...held });
  for (const file of ['b.json', 'c.json', 'd.json', 'e.json']) {
    bench.addFile(byKey, file, [{ user: 'rosa', plan: file }]);
    getReport(await startMigration(bench.runtime, byKey, { ...runOptions, topUp: true }));
  }
  const names = ['by-key', 'by-name'];
  const release = await findHeld(bench.runtime.staging, { kind: 'names', names });
  if (!release) throw new Error('nothing is held');
  getReport(await sendHeldPersons(bench.runtime, release, runOptions));
  for (const name of names)
    expect(await loadPersons(bench.runtime.staging, name)).toMatchObject({ isHeld: false });
});

/** `env`: the keys that the process has which removes it. */
const remove = (name: string, { env = bench.env, forget = false } = {}) =>
  removeMigration(bench.runtime, name, {
    forget,
    resolveLedger: (manifest) => resolveLedger(manifest, { env, bundled: undefined }),
  });

/** Sends persons of `stopped` after a migration under another name or key of the project has noted them. */
async function sendAfterNoted(first: string | undefined, second: string | undefined): Promise<void> {
  const rosa = { user: 'rosa', device: 'kiosk', plan: 'new', time: '2023-01-01T00:00:00Z' };
  await stopBeforePersons('stopped', [rosa], at(first));
  await bench.run('noting', [{ user: 'sven', plan: 'x' }], at(second));
  getReport(await resumeMigration(bench.runtime, 'stopped', runOptions));
  bench.takeSent();
}

for (const [first, second] of [
  [undefined, 'shop'],
  ['shop', undefined],
] as const)
  it(`what was sent ${first ? 'by name' : 'by key'} is known ${second ? 'by name' : 'by key'} once it is removed`, async () => {
    await sendAfterNoted(first, second);
    // The ledger of a name needs no key.
    await remove('stopped', second ? { env: {} } : {});
    await bench.run('later', [{ user: 'rosa', plan: 'old', time: '2020-01-01T00:00:00Z' }], at(second));
    expect(bench.takeSent().properties.filter((one) => one.includes('"$set"'))).toEqual([]);
  });

it('what a former key knows less of is removed with that key, or forgotten', async () => {
  await sendAfterNoted('shop', undefined);
  const rotated = { env: { KEY: 'phc_rotated' } };
  await expect(remove('stopped', rotated)).rejects.toThrow('what is known under that key is behind');
  await expect(remove('stopped', { env: {} })).rejects.toThrow(/KEY.*with --forget it is not needed/);
  await remove('stopped');
  const older = [{ user: 'rosa', plan: 'old', time: '2020-01-01T00:00:00Z' }];
  await bench.run('later', older, at());
  expect(bench.takeSent().properties.filter((one) => one.includes('"$set"'))).toEqual([]);
});

it('what a former key knows less of is forgotten where nobody has that key', async () => {
  await sendAfterNoted('shop', undefined);
  await remove('stopped', { env: { KEY: 'phc_rotated' }, forget: true });
  for (const project of ['shop', undefined])
    await bench.run(`later-${project}`, [{ user: 'tom', device: 'phone' }], at(project));
  expect(bench.takeSent().merges).toEqual([]);
});

it('what a former key knows less of keeps nothing from being removed where nothing was sent since', async () => {
  const topped = await bench.write('topped', [{ user: 'rosa', plan: 'a' }], at('shop'));
  getReport(await startMigration(bench.runtime, topped, runOptions));
  await bench.run('noting', [{ user: 'sven', plan: 'x' }], at());
  bench.addFile(topped, 'b.json', [{ user: 'rosa', device: 'kiosk' }]);
  getReport(await startMigration(bench.runtime, topped, { ...runOptions, topUp: true }));
  await remove('topped', { env: { KEY: 'phc_rotated' } });
  const { people } = await bench.run('later', [{ user: 'tom', device: 'kiosk' }], at('shop'));
  expect(people.setAside).toEqual({ contradicted_merge: 1 });
});

for (const [first, second] of [
  [undefined, 'shop'],
  ['shop', undefined],
] as const)
  it(`what was imported ${first ? 'by name' : 'by key'} last is known ${second ? 'by name' : 'by key'} once it is removed`, async () => {
    await bench.run('early', [{ user: 'olaf', plan: 'x' }], at(second));
    const topped = await bench.write('topped', [{ user: 'rosa', plan: 'a' }], at(first));
    getReport(await startMigration(bench.runtime, topped, runOptions));
    await bench.run('noting', [{ user: 'sven', plan: 'x' }], at(second));
    bench.addFile(topped, 'b.json', [{ user: 'rosa', device: 'kiosk' }]);
    getReport(await startMigration(bench.runtime, topped, { ...runOptions, topUp: true }));
    await bench.run('late', [{ user: 'lars', device: 'tablet' }], at(first));
    bench.takeSent();
    await remove('topped');
    await remove('late');

    const later = [
      { user: 'tom', device: 'kiosk' },
      { user: 'tom', device: 'tablet' },
      { user: 'una', device: 'phone' },
    ];
    const { people } = await bench.run('later', later, at(second));
    expect(people.setAside).toEqual({ contradicted_merge: 2 });
    expect(bench.takeSent().merges).toEqual(['phone → una']);
  });
