import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Staging } from '../../../src/contract/staging.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import { cancelMigration } from '../../../src/migrations/control.ts';
import { loadStoredManifest } from '../../../src/migrations/manifest/stored-manifest.ts';
import { loadKnownAtRemoval } from '../../../src/migrations/persons/facts-removed.ts';
import { findRemovedJoins } from '../../../src/migrations/persons/keep-links.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import type { RunStatus } from '../../../src/migrations/run/run-status.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { clearStaging } from '../../../src/state/migrations.ts';
import { createPersonsBench, type PersonsBench, runOptions } from './persons-bench.ts';

/*
 * What is damaged of one migration keeps the persons of another one back only where these could be merged wrongly, and
 * then a sentence says what to do, which works.
 */

let bench: PersonsBench;
let staging: Staging;
beforeAll(async () => {
  bench = await createPersonsBench();
  staging = bench.runtime.staging;
});
afterAll(() => bench?.close());

/** Of each project, as the destination drops what arrives twice. */
const first = (project: string) => [{ user: `alice-${project}`, device: `tablet-${project}` }];
/** The device is shared by now; carol's is not. */
const later = (project: string) => [
  { user: `bob-${project}`, device: `tablet-${project}` },
  { user: `carol-${project}`, device: `phone-${project}` },
];
const ofCarol = (project: string) => `phone-${project} → carol-${project}`;

const at = (project: string) => ({ destination: bench.project(project) });
const resume = (name: string) => resumeMigration(bench.runtime, name, runOptions);
const remove = (name: string, forget = false) =>
  removeMigration(bench.runtime, name, {
    forget,
    resolveLedger: (manifest) => resolveLedger(manifest, bench.runtime),
  });
const findLedger = async (name: string) => {
  const { manifest } = await loadStoredManifest(staging, name);
  return ledgerLayout(resolveLedger(manifest, bench.runtime).id);
};
const findKey = async (prefix: string) => {
  for await (const { key } of staging.list(prefix)) return key;
  throw new Error(`there is nothing below ${prefix}`);
};
const cutOff = async (key: string) => {
  const body = await staging.get(key);
  await staging.put(key, body?.subarray(0, body.length / 2) ?? Buffer.alloc(0));
};
const startLater = async (project: string) =>
  startMigration(bench.runtime, await bench.write(`${project}-2`, later(project), at(project)), runOptions);

/** A migration that is removed after it sent its persons. */
async function addRemoved(project: string) {
  const name = `${project}-1`;
  await bench.run(name, first(project), at(project));
  const ledger = await findLedger(name);
  await remove(name);
  bench.takeSent();
  const receipt = await findKey(layout(name).receipts);
  return { name, ledger, receipt, mark: layout(name).factsRemoved, known: ledger.known(name) };
}
type Removed = Awaited<ReturnType<typeof addRemoved>>;

it.each<[what: string, project: string, damage: (removed: Removed) => Promise<void>]>([
  ['a receipt is gone', 'd1', ({ receipt }) => staging.remove(receipt)],
  ['a receipt is cut off', 'd2', ({ receipt }) => cutOff(receipt)],
  ['a receipt is empty', 'd3', ({ receipt }) => staging.put(receipt, Buffer.alloc(0)).then(() => {})],
  ['what its ledger says of it is gone', 'd4', ({ known }) => staging.remove(known)],
  ['what its ledger says of it is cut off', 'd5', ({ known }) => cutOff(known)],
  ['the mark of its removal is empty', 'd6', ({ mark }) => staging.put(mark, Buffer.alloc(0)).then(() => {})],
  [
    'a worker that slept wrote a receipt after it was removed',
    'd7',
    async ({ receipt }) => {
      const late = JSON.parse(String(await staging.get(receipt)));
      const key = receipt.replace(/[^/]+$/, '00007.json');
      await staging.put(key, encodeDocument({ ...late, part: late.part.replace(/[^/]+$/, '00007') }));
    },
  ],
])('a removed migration of which %s forbids what it forbade', async (_, project, damage) => {
  const removed = await addRemoved(project);
  await damage(removed);
  expect(await startLater(project)).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual([ofCarol(project)]);
  expect(JSON.parse(String(await staging.get(removed.known)))).toMatchObject({ state: 'sent' });
});

it('where nobody knows what a removed migration said, nothing is sent until an operator has decided', async () => {
  const { name, receipt, mark } = await addRemoved('e');
  await staging.put(mark, encodeDocument({ at: '' })); // as an earlier version left it
  await cutOff(receipt);
  await expect(startLater('e')).rejects.toThrow(`${receipt} is damaged`);
  await expect(resume('e-2')).rejects.toThrow(`run "backhaul rm ${name} --forget" and resume`);
  expect(bench.takeSent().merges).toEqual([]);
  await remove(name, true);
  expect(await resume('e-2')).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual([]);
});

it('a ledger that was begun anew knows nothing of what was removed before', async () => {
  const { ledger } = await addRemoved('f');
  await clearStaging(staging, ledger.prefix);
  await expect(startLater('f')).rejects.toThrow('run "backhaul rm f-1 --forget" and resume');
  await remove('f-1', true);
  expect(await resume('f-2')).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual([]);
});

it('a receipt that may forbid a merge keeps others back until its part is imported again', async () => {
  await bench.run('g-1', first('g'), at('g'));
  const receipt = await findKey(layout('g-1').receipts);
  await cutOff(receipt);
  bench.takeSent();
  const failing = startLater('g');
  await expect(failing).rejects.toThrow(SourceError);
  await expect(failing).rejects.toThrow(`remove ${receipt} and resume "g-1"`);
  await expect(failing).rejects.toThrow('What "g-1" says of persons may forbid a merge');
  await staging.remove(receipt);
  expect(await resume('g-1')).toMatchObject({ kind: 'finished' });
  expect(await resume('g-2')).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual([ofCarol('g')]);
});

it('and so it does for a cancelled migration, which may be removed instead', async () => {
  const loaded = await bench.write('h-1', first('h'), at('h'));
  const stop = new AbortController();
  const onStatus = ({ phase }: RunStatus) => {
    if (phase === 'people') stop.abort(new Error('enough'));
  };
  const stopped = await startMigration(bench.runtime, loaded, {
    ...runOptions,
    signal: stop.signal,
    onStatus,
  });
  expect(stopped).toMatchObject({ kind: 'stopped' });
  await cancelMigration(bench.runtime, 'h-1', '');
  await cutOff(await findKey(layout('h-1').receipts));
  await expect(startLater('h')).rejects.toThrow('run "backhaul rm h-1 --forget" instead');
  await remove('h-1', true);
  expect(await resume('h-2')).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual([]);
});

it('a receipt that is damaged and whose facts the ledger knows keeps nobody back', async () => {
  await bench.run('i-1', first('i'), at('i'));
  const receipt = await findKey(layout('i-1').receipts);
  const text = String(await staging.get(receipt));
  await staging.put(receipt, Buffer.from(text.replace('"read": 1', '"read": 7')));
  bench.takeSent();
  expect(await startLater('i')).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual([ofCarol('i')]);
});

it.each(['at the same destination', 'at another one'])(
  'the damaged plan of a turn that was begun %s keeps nobody back',
  async (where) => {
    const [project, its] = where === 'at another one' ? ['j', 'j-other'] : ['k', 'k'];
    const name = `${its}-9`;
    if (project !== its) {
      // A ledger that cannot be made again, and a turn whose number it has not reached.
      await addRemoved(project);
      for (const n of [1, 2, 3])
        await bench.run(`${its}-${n}`, [{ user: `u${n}`, device: `v${n}` }], at(its));
    }
    bench.destination.overrule((_, text) =>
      text.includes('$identify') ? { status: 401, body: '{}' } : undefined,
    );
    const loaded = await bench.write(name, first(its), at(its));
    expect(await startMigration(bench.runtime, loaded, runOptions)).toMatchObject({ kind: 'held' });
    bench.destination.overrule(undefined);
    for await (const { key } of staging.list(layout(name).turns)) await cutOff(key);
    bench.takeSent();
    expect(await startLater(project)).toMatchObject({ kind: 'finished' });
    expect(bench.takeSent().merges).toEqual([ofCarol(project)]);
  },
);

it('a document of what was sent that is damaged counts as sent for a ledger that does not know it', async () => {
  await bench.run('l-1', first('l'), at('l'));
  const ledger = await findLedger('l-1');
  for await (const { key } of staging.list(layout('l-1').endedTurns)) await cutOff(key);
  await clearStaging(staging, ledger.table('ids'));
  bench.takeSent();
  expect(await startLater('l')).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual([ofCarol('l')]);
});

it('what a ledger says of a finished migration counts as sent, also where that was damaged', async () => {
  await bench.run('m-1', first('m'), at('m'));
  const { known } = await findLedger('m-1');
  await cutOff(known('m-1'));
  bench.takeSent();
  expect(await startLater('m')).toMatchObject({ kind: 'finished' });
  expect(JSON.parse(String(await staging.get(known('m-1'))))).toMatchObject({ state: 'sent' });
  expect(bench.takeSent().merges).toEqual([ofCarol('m')]);
});

it.each(['the mark of its removal', 'all that it had, its record too,'])(
  'what a vendor joined in a removed migration is looked up after %s is gone',
  async (what) => {
    const project = what.startsWith('the mark') ? 'n' : 'o';
    const { name, mark } = await addRemoved(project);
    const { manifest } = await loadStoredManifest(staging, name);
    const { id } = resolveLedger(manifest, bench.runtime);
    await staging.remove(mark);
    if (project === 'o') {
      await clearStaging(staging, layout(name).prefix);
      await staging.remove(layout(name).record);
    }
    expect(await findRemovedJoins(staging, { id })).toBeDefined();
  },
);

it('a ledger that was removed is not the one that knew what a removed migration said', async () => {
  const { name, ledger } = await addRemoved('q');
  const { manifest } = await loadStoredManifest(staging, name);
  const { id } = resolveLedger(manifest, bench.runtime);
  expect(await loadKnownAtRemoval(staging, name, id)).toMatchObject({ state: 'sent' });
  await clearStaging(staging, ledger.turns);
  await clearStaging(staging, ledger.endedTurns);
  expect(await loadKnownAtRemoval(staging, name, id)).toBeUndefined();
});

it('a migration that no ledger knows yet is forgotten by the one that it had', async () => {
  const loaded = await bench.write('r-1', first('r'), at('r'));
  const stop = new AbortController();
  const onStatus = ({ phase }: RunStatus) => {
    if (phase === 'people') stop.abort(new Error('enough'));
  };
  const options = { ...runOptions, signal: stop.signal, onStatus };
  expect(await startMigration(bench.runtime, loaded, options)).toMatchObject({ kind: 'stopped' });
  await remove('r-1', true);
  expect(await startLater('r')).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual([]);
});
