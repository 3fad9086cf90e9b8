import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { assertNotKnownElsewhere } from '../../../src/migrations/persons/project/known-elsewhere.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { createPersonsBench, getReport, type PersonsBench, runOptions } from './persons-bench.ts';

/** A project that was sent to by one of its names and keys alone until its migrations were removed, and then by another. */

let bench: PersonsBench;
beforeEach(async () => {
  bench = await createPersonsBench();
  onTestFinished(() => bench.close());
});

const at = (project?: string, apiKey = '${KEY}') => ({
  destination: { url: bench.destination.url, apiKey, ...(project === undefined ? {} : { project }) },
});
const remove = (name: string, { forget = false, env = bench.env } = {}) =>
  removeMigration(bench.runtime, name, {
    forget,
    resolveLedger: (manifest) => resolveLedger(manifest, { env, bundled: undefined }),
  });

const KIOSK_OF_ROSA = [{ user: 'rosa', device: 'kiosk' }];
const LATER = [
  { user: 'tom', device: 'kiosk' },
  { user: 'una', device: 'phone' },
];

for (const { first, second, advice } of [
  { first: undefined, second: 'shop', advice: 'leave "project" out under destination' },
  { first: 'shop', second: undefined, advice: 'write "project: shop" under destination' },
])
  it(`what is known ${first ? 'by name' : 'by key'} alone refuses a migration ${second ? 'by name' : 'by key'}`, async () => {
    await bench.run('removed', KIOSK_OF_ROSA, at(first));
    await remove('removed');
    bench.takeSent();
    const before = bench.destination.events().size;
    await expect(bench.run('later', LATER, at(second))).rejects.toThrow(advice);
    expect(bench.destination.events().size).toBe(before);

    const { people } = await bench.run('later', LATER, at(first));
    expect(people.setAside).toEqual({ contradicted_merge: 1 });
    expect(bench.takeSent().merges).toEqual(['phone → una']);
  });

/** Imports the events of a migration, and stops it before anything about persons is sent. */
async function begin(manifest: object): Promise<void> {
  const stop = new AbortController();
  await startMigration(bench.runtime, await bench.write('begun', LATER, manifest), {
    ...runOptions,
    signal: stop.signal,
    onStatus: ({ phase }) => {
      if (phase === 'people') stop.abort(new Error('stopped here'));
    },
  });
}

it('what is known by name is told to a migration that had begun by key', async () => {
  await begin(at());
  await bench.run('removed', KIOSK_OF_ROSA, at('shop'));
  await remove('removed');
  bench.takeSent();
  const { people } = getReport(await resumeMigration(bench.runtime, 'begun', runOptions));
  expect(people.setAside).toEqual({ contradicted_merge: 1 });
  expect(bench.takeSent().merges).toEqual(['phone → una']);
});

it('what was removed without the key is found by a migration that had begun by key', async () => {
  await begin(at());
  await bench.run('removed', KIOSK_OF_ROSA, at('shop'));
  await remove('removed', { env: {} });
  bench.takeSent();
  await expect(resumeMigration(bench.runtime, 'begun', runOptions)).rejects.toThrow('"project: shop"');
  const named = await bench.write('begun', LATER, at('shop'));
  const { people } = getReport(await startMigration(bench.runtime, named, runOptions));
  expect(people.setAside).toEqual({ shared_device: 1 });
  expect(bench.takeSent().merges).toEqual(['phone → una']);
});

it('what is removed by a second key of a project is told to those that began by its name', async () => {
  await begin(at('shop', '${NEXT_KEY}'));
  await bench.run('removed', KIOSK_OF_ROSA, at(undefined, '${NEXT_KEY}'));
  await remove('removed');
  bench.takeSent();
  const next = [{ user: 'ida', device: 'laptop' }];
  const { people } = await bench.run('later', next, at('shop'));
  expect(people.setAside).toEqual({});
  getReport(await resumeMigration(bench.runtime, 'begun', runOptions));
  expect(bench.takeSent().merges).toEqual(['laptop → ida', 'phone → una']);
});

it('what is given up is merged nowhere, by name and by key', async () => {
  await bench.run('removed', KIOSK_OF_ROSA, at('shop'));
  await remove('removed');
  await expect(bench.run('later', LATER, at())).rejects.toThrow('"backhaul rm removed --forget"');
  await remove('removed', { forget: true });
  bench.takeSent();
  for (const project of ['shop', undefined])
    expect((await bench.run(`later-${project}`, LATER, at(project))).people.setAside).toEqual({
      ledger_forgotten: 2,
    });
  expect(bench.takeSent().merges).toEqual([]);
});

for (const first of [undefined, 'shop'])
  it(`a variable that holds the key of another project leads away from what ${first ? 'a name' : 'its key'} knows`, async () => {
    await bench.run('removed', KIOSK_OF_ROSA, at(first));
    await remove('removed');
    bench.takeSent();
    Object.assign(bench.env, { KEY: bench.env['NEXT_KEY'] });
    await expect(bench.run('later', LATER, at())).rejects.toThrow(
      'in a variable of another name than ${KEY}',
    );
    const { people } = await bench.run('later', LATER, at(undefined, '${NEXT_KEY}'));
    expect(people.setAside).toEqual({});
    expect(bench.takeSent().merges).toEqual(['kiosk → tom', 'phone → una']);
  });

it('a bundled API with a new database is not refused: no manifest names its key', async () => {
  const { staging } = bench.runtime;
  await bench.run('removed', KIOSK_OF_ROSA, at());
  await remove('removed');
  const { record } = layout('removed');
  const stored = JSON.parse(String(await staging.get(record))) as { opening: { manifest: object } };
  Object.assign(stored.opening.manifest, { destination: undefined });
  await staging.put(record, Buffer.from(JSON.stringify(stored)));
  const bundled = { host: undefined, project: undefined, service: undefined, apiKey: undefined };
  await assertNotKnownElsewhere(staging, 'later', bundled, { id: 'new', key: 'new' });
});
