import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelMigration } from '../../../src/migrations/control.ts';
import { loadStoredManifest } from '../../../src/migrations/manifest/stored-manifest.ts';
import { findLost } from '../../../src/migrations/persons/rebuild-ledger.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { toRangeKey } from '../../../src/state/keys/turn.ts';
import { loadVersions } from '../../../src/state/ledger/ledger-tables.ts';
import { clearStaging } from '../../../src/state/migrations.ts';
import { createPersonsBench, type PersonsBench, runOptions, type Seen } from './persons-bench.ts';

/** Objects of a ledger that are lost together, or where nothing else would miss them. */

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

const where = (name: string, more: object = {}) => ({
  destination: bench.project(name),
  ...more,
});

async function findAccess(name: string) {
  const { manifest } = await loadStoredManifest(bench.runtime.staging, name);
  return resolveLedger(manifest, bench.runtime);
}

const findKeys = async (name: string) => ledgerLayout((await findAccess(name)).id);

/** Runs until the destination refuses the key for the first batch with this text. */
async function interrupt(name: string, seen: readonly Seen[], manifest: object, text: string) {
  bench.destination.overrule((_, batch) =>
    batch.includes(text) ? { status: 401, body: '{"detail":"no"}' } : undefined,
  );
  const paused = await startMigration(bench.runtime, await bench.write(name, seen, manifest), runOptions);
  bench.destination.overrule(undefined);
  expect(paused).toMatchObject({ kind: 'held', state: 'paused' });
}

const remove = (name: string, forget = false) =>
  removeMigration(bench.runtime, name, {
    forget,
    resolveLedger: (manifest) => resolveLedger(manifest, bench.runtime),
  });

it('buckets that are gone together with their versions, before any turn has ended', async () => {
  const { staging } = bench.runtime;
  await interrupt('first-1', [{ user: 'anna', device: 'hall' }], where('first'), '"$identify"');
  const keys = await findKeys('first-1');
  await clearStaging(staging, keys.table('ids'));
  await clearStaging(staging, keys.allVersions);
  bench.takeSent();
  await resumeMigration(bench.runtime, 'first-1', runOptions);
  expect(bench.takeSent().merges).toEqual(['hall → anna']);
  const { people } = await bench.run('first-2', [{ user: 'bert', device: 'hall' }], where('first'));
  expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
});

it('buckets of properties that are gone in the middle of the first fold', async () => {
  const { staging } = bench.runtime;
  const manifest = where('fold', { people: { overwrite: true } });
  const said = (user: string, plan: string, year: number) => ({
    user,
    plan,
    time: `${year}-01-01T00:00:00Z`,
  });
  await interrupt('fold-1', [said('carl', 'new', 2023)], manifest, '"$set"');
  const keys = await findKeys('fold-1');
  // As a checkpoint, which is saved every 5 s, says it: all was sent, and only the receipt is missing.
  const checkpoint = {
    position: 'ff'.repeat(12),
    sent: {
      people: { pairs: 0, persons: 1, groups: 0, setAside: {}, setAsideSample: [] },
      events: { sent: 1, accepted: 1 },
      refused: [],
    },
    versions: Object.fromEntries(await loadVersions(staging, keys.table('properties'))),
  };
  expect(checkpoint.versions).not.toEqual({});
  const folder = layout('fold-1').atTurn(1).checkpoints('folded');
  await staging.put(toRangeKey(folder, { from: 0, to: 64 }), encodeDocument(checkpoint));
  await clearStaging(staging, keys.table('properties'));
  await resumeMigration(bench.runtime, 'fold-1', runOptions);
  bench.takeSent();
  await bench.run('fold-2', [said('carl', 'old', 2021)], manifest);
  expect(bench.takeSent().properties).toEqual([]);
});

it('receipts of a turn note the versions that they rely on', async () => {
  const { staging } = bench.runtime;
  await interrupt('noted', [{ user: 'dora', device: 'pier', plan: 'x' }], where('noted'), '"$set_once"');
  const keys = layout('noted').atTurn(1);
  const resolved = await staging.get(toRangeKey(keys.resolved, { from: 0, to: 64 }));
  const ids = Object.fromEntries(await loadVersions(staging, (await findKeys('noted')).table('ids')));
  expect(JSON.parse(String(resolved))).toMatchObject({ versions: ids });
  await resumeMigration(bench.runtime, 'noted', runOptions);
});

describe('a ledger that was restored from an older backup', () => {
  const said = (plan: string, year: number): Seen[] => [
    { user: 'nils', device: 'dock', plan, company: 'dockers', size: plan, time: `${year}-01-01T00:00:00Z` },
  ];

  async function backUp({ prefix }: Awaited<ReturnType<typeof findKeys>>) {
    const { staging } = bench.runtime;
    const objects: [string, Buffer][] = [];
    for await (const { key } of staging.list(prefix)) {
      const body = await staging.get(key);
      if (body) objects.push([key, body]);
    }
    return async () => {
      await clearStaging(staging, prefix);
      for (const [key, body] of objects) await staging.put(key, body);
    };
  }

  it('rolls no value back, and is made again once', async () => {
    const { staging } = bench.runtime;
    const manifest = where('restored', { people: { overwrite: true } });
    const loaded = await bench.write('restored-1', said('first', 2021), manifest);
    await startMigration(bench.runtime, loaded, runOptions);
    const keys = await findKeys('restored-1');
    const restore = await backUp(keys);
    bench.addFile(loaded, 'b.json', said('newest', 2023));
    await startMigration(bench.runtime, loaded, { ...runOptions, topUp: true });
    await restore();
    await expect(remove('restored-1')).rejects.toThrow(`has lost ${keys.turn(2)}`);
    bench.takeSent();

    await bench.run('restored-2', said('between', 2022), manifest);
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
    expect(bench.listGroups().filter((one) => one.startsWith('dockers'))).toHaveLength(2);
    expect(await findLost(staging, await findAccess('restored-2'))).toBeUndefined();
    await bench.run('restored-3', said('last', 2024), manifest);
    expect(bench.takeSent().properties).toHaveLength(1);
    await remove('restored-1');
  });

  it('that did not exist by then: the first migration that is removed is entered, and the others are known', async () => {
    const { staging } = bench.runtime;
    const manifest = where('bygone', { people: { overwrite: true } });
    await bench.run('bygone-1', said('newest', 2023), manifest);
    await bench.run('bygone-2', [{ user: 'olga', device: 'dock' }], manifest);
    const keys = await findKeys('bygone-1');
    await clearStaging(staging, keys.prefix);
    await remove('bygone-1');
    expect(await findLost(staging, await findAccess('bygone-2'))).toBeUndefined();
    bench.takeSent();
    await bench.run('bygone-3', said('between', 2022), manifest);
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
  });
});

describe('what only the ledger knows', () => {
  it('stops the next migration where it was lost, although no turn had ended', async () => {
    const { staging } = bench.runtime;
    await interrupt('gone-1', [{ user: 'emma', device: 'deck' }], where('gone'), '"$identify"');
    const keys = await findKeys('gone-1');
    await clearStaging(staging, keys.prefix); // so that it is taken in as perhaps sent
    await cancelMigration(bench.runtime, 'gone-1', 'enough');
    await remove('gone-1');
    await clearStaging(staging, keys.table('ids'));
    await clearStaging(staging, keys.allVersions);
    const loaded = await bench.write('gone-2', [{ user: 'fred', device: 'deck' }], where('gone'));
    await expect(startMigration(bench.runtime, loaded, runOptions)).rejects.toThrow(
      '"backhaul rm gone-1 --forget"',
    );
  });

  it('stops it where the migration itself was deleted, until it is forgotten', async () => {
    const { staging } = bench.runtime;
    await bench.run('bare-1', [{ user: 'gina', device: 'attic' }], where('bare'));
    const keys = await findKeys('bare-1');
    await clearStaging(staging, layout('bare-1').prefix);
    await staging.remove(layout('bare-1').record);
    await clearStaging(staging, keys.table('ids'));
    bench.takeSent();
    const loaded = await bench.write('bare-2', [{ user: 'hugo', device: 'attic' }], where('bare'));
    await expect(startMigration(bench.runtime, loaded, runOptions)).rejects.toThrow(
      'migration "bare-1" is gone from staging',
    );
    await remove('bare-1', true);
    await resumeMigration(bench.runtime, 'bare-2', runOptions);
    expect(bench.takeSent().merges).toEqual([]);
  });

  it('is not made impossible to make again: a migration stays while its ledger lacks something', async () => {
    const { staging } = bench.runtime;
    await bench.run('keep-1', [{ user: 'ida', device: 'loft' }], where('keep'));
    const keys = await findKeys('keep-1');
    await clearStaging(staging, keys.table('ids'));
    await expect(remove('keep-1')).rejects.toThrow('cannot be removed before');
    const { people } = await bench.run('keep-2', [{ user: 'jon', device: 'loft' }], where('keep'));
    expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
    await remove('keep-1');
  });
});

it.each(['a bucket', 'its document'])(
  'the advice on a ledger of which %s is empty leads to a right end',
  async (what) => {
    const { staging } = bench.runtime;
    const name = what.replaceAll(' ', '-');
    const manifest = where(name, { people: { overwrite: true } });
    const seen = { user: 'kim', device: name, plan: 'new', time: '2023-01-01T00:00:00Z' };
    await bench.run(`${name}-1`, [seen], manifest);
    const keys = await findKeys(`${name}-1`);
    let damaged = keys.document;
    if (what === 'a bucket') for await (const { key } of staging.list(keys.table('ids'))) damaged = key;
    await staging.put(damaged, Buffer.alloc(0));
    bench.takeSent();
    const later = [
      { user: 'lea', device: name },
      { user: 'kim', plan: 'old', time: '2021-01-01T00:00:00Z' },
    ];
    const stopped = await startMigration(
      bench.runtime,
      await bench.write(`${name}-2`, later, manifest),
      runOptions,
    ).catch(String);
    const said = JSON.stringify(stopped);
    expect(said).toContain(damaged);
    expect(said).toContain('remove this one object, and nothing else of the ledger, and resume');
    await staging.remove(damaged);
    const resumed = await resumeMigration(bench.runtime, `${name}-2`, runOptions);
    expect(resumed).toMatchObject({
      kind: 'finished',
      report: { people: { pairs: 0, setAside: { contradicted_merge: 1 } } },
    });
    expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
  },
);
