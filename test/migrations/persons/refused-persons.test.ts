import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { sentRange } from '../../../src/identity/sent-range.ts';
import { loadStoredManifest } from '../../../src/migrations/manifest/stored-manifest.ts';
import { loadPersons } from '../../../src/migrations/persons/load-persons.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { BUCKETS } from '../../../src/state/bucket.ts';
import { encodeDocument } from '../../../src/state/document.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { toRangeKey } from '../../../src/state/keys/turn.ts';
import { clearStaging } from '../../../src/state/migrations.ts';
import { createPersonsBench, type PersonsBench, runOptions, type Seen } from './persons-bench.ts';

/** What the destination refused about persons, and an operator accepted, was not made and not set. */

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

const where = (name: string) => ({
  destination: bench.project(name),
  people: { overwrite: true },
});

/** Ends a migration of which everything about persons and groups was refused. */
async function acceptRefusals(name: string, seen: readonly Seen[], manifest: object): Promise<void> {
  bench.destination.overrule((_, text) =>
    text.includes('"$identify"') || text.includes('"$group_identify"')
      ? { status: 400, body: '{"detail":"no"}' }
      : undefined,
  );
  await startMigration(bench.runtime, await bench.write(name, seen, manifest), runOptions);
  const ended = await resumeMigration(bench.runtime, name, { ...runOptions, acceptRefusals: true });
  bench.destination.overrule(undefined);
  expect(ended).toMatchObject({ kind: 'rejects_above_threshold', report: { people: { pairs: 0 } } });
  expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
}

it('a later migration makes the merge and sets the values, or learns that the merge would be wrong', async () => {
  const manifest = where('again');
  const seen = [
    { user: 'r1', device: 'e1', plan: 'new', company: 'reed', size: '9' },
    { user: 'r2', device: 'e2' },
  ];
  await acceptRefusals('again-1', seen, manifest);
  const later = [
    { user: 'r1', device: 'e1', plan: 'old', company: 'reed', size: '1', time: '2021-01-01T00:00:00Z' },
    { user: 'r3', device: 'e2' },
    { device: 'e2', plan: 'own' },
  ];
  const { people } = await bench.run('again-2', later, manifest);
  expect(people).toMatchObject({ pairs: 1, setAside: { shared_device: 1 } });
  expect(people).not.toHaveProperty('mergedBefore');
  expect(bench.takeSent()).toEqual({
    merges: ['e1 → r1'],
    properties: ['{"id":"e2","$set":{"plan":"own"}}', '{"id":"r1","$set":{"plan":"old"}}'],
  });
  expect(bench.listGroups()).toEqual(['reed {"size":"1"}']);
});

it('what was sent before a refused value is known again', async () => {
  const manifest = where('before');
  const says = (plan: string, year: number) => [{ user: 's1', plan, time: `${year}-01-01T00:00:00Z` }];
  await bench.run('before-1', says('first', 2021), manifest);
  bench.takeSent();
  await acceptRefusals('before-2', says('refused', 2023), manifest);
  await bench.run('before-3', says('older', 2020), manifest);
  expect(bench.takeSent().properties).toEqual([]);
  await bench.run('before-4', says('newer', 2022), manifest);
  expect(bench.takeSent().properties).toEqual(['{"id":"s1","$set":{"plan":"newer"}}']);
});

it('refusals that were accepted are not sent again after a crash, when the ledger has taken them back', async () => {
  const { staging } = bench.runtime;
  const manifest = where('crash');
  bench.destination.overrule((_, text) =>
    text.includes('"$identify"') ? { status: 400, body: '{"detail":"no"}' } : undefined,
  );
  const loaded = await bench.write('crash-1', [{ user: 'u1', device: 'g1' }], manifest);
  await startMigration(bench.runtime, loaded, runOptions);
  const create = staging.create.bind(staging);
  const crash = vi.spyOn(staging, 'create').mockImplementation(async (key, body) => {
    if (/^_ledgers\/.*\/ended\//.test(key)) throw new Error('killed');
    return create(key, body);
  });
  await resumeMigration(bench.runtime, 'crash-1', { ...runOptions, acceptRefusals: true }).catch(String);
  crash.mockRestore();
  bench.destination.overrule(undefined);
  const ended = await resumeMigration(bench.runtime, 'crash-1', runOptions);
  expect(ended).toMatchObject({ kind: 'rejects_above_threshold', report: { people: { refusedCount: 1 } } });
  expect(bench.takeSent().merges).toEqual([]);
  await bench.run('crash-2', [{ user: 'u1', device: 'g1' }], manifest);
  expect(bench.takeSent().merges).toEqual(['g1 → u1']);
});

it('a ledger that is made again does not take it as sent either', async () => {
  const manifest = where('lost');
  await acceptRefusals('lost-1', [{ user: 't1', device: 'f1', plan: 'x' }], manifest);
  const { id } = resolveLedger(
    (await loadStoredManifest(bench.runtime.staging, 'lost-1')).manifest,
    bench.runtime,
  );
  await clearStaging(bench.runtime.staging, ledgerLayout(id).prefix);
  await bench.run('lost-2', [{ user: 't1', device: 'f1', plan: 'x' }], manifest);
  expect(bench.takeSent()).toEqual({
    merges: ['f1 → t1'],
    properties: ['{"id":"t1","$set":{"plan":"x"}}'],
  });
});

it('what a worker writes late about refused events does not keep them from being sent again', async () => {
  const { staging } = bench.runtime;
  const manifest = where('late');
  bench.destination.overrule((_, text) =>
    text.includes('"$identify"') ? { status: 400, body: '{"detail":"no"}' } : undefined,
  );
  await startMigration(
    bench.runtime,
    await bench.write('late', [{ user: 'w1', device: 'h1' }], manifest),
    runOptions,
  );
  bench.destination.overrule(undefined);
  const keys = layout('late').atTurn(1);
  const range = { from: 0, to: BUCKETS };
  const sent = sentRange.parse(JSON.parse(String(await staging.get(toRangeKey(keys.merged, range)))));
  expect(sent).toMatchObject({ refusedCount: 1 });
  // The same worker once more, woken behind the end of the run.
  await staging.put(toRangeKey(keys.merged, range), encodeDocument(sent));
  await staging.put(
    toRangeKey(keys.checkpoints('merged'), range),
    encodeDocument({ position: `0:${'f'.repeat(8)}`, sent }),
  );
  const ended = await resumeMigration(bench.runtime, 'late', runOptions);
  expect(ended).toMatchObject({ kind: 'finished', report: { people: { pairs: 1, refusedCount: 0 } } });
  expect(bench.takeSent().merges).toEqual(['h1 → w1']);
});

it('what a producer writes late about a turn does not count beside what a later one wrote', async () => {
  const { staging } = bench.runtime;
  const manifest = where('woken');
  bench.destination.overrule((_, text) =>
    text.includes('"$identify"') ? { status: 400, body: '{"detail":"no"}' } : undefined,
  );
  await startMigration(
    bench.runtime,
    await bench.write('woken', [{ user: 'x1', device: 'k1' }], manifest),
    runOptions,
  );
  const put = staging.put.bind(staging);
  let late: [string, Uint8Array] | undefined;
  const crash = vi.spyOn(staging, 'put').mockImplementation(async (key, body) => {
    if (!key.startsWith('woken/people/ended/')) return put(key, body);
    late = [key, Buffer.from(body)];
    throw new Error('killed');
  });
  await resumeMigration(bench.runtime, 'woken', { ...runOptions, acceptRefusals: true }).catch(String);
  crash.mockRestore();
  // The next one sends what was refused again, without having accepted anything.
  await resumeMigration(bench.runtime, 'woken', runOptions);
  bench.destination.overrule(undefined);
  const ended = await resumeMigration(bench.runtime, 'woken', runOptions);
  expect(ended).toMatchObject({ kind: 'finished', report: { people: { refusedCount: 0 } } });
  expect(late).toBeDefined();
  if (late) await put(...late);
  const { sent } = await loadPersons(staging, 'woken');
  expect(sent).toMatchObject({ people: { pairs: 1 }, refusedCount: 0 });
});
