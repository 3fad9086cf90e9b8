import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadStoredManifest } from '../../../src/migrations/manifest/stored-manifest.ts';
import { removeFacts } from '../../../src/migrations/persons/remove-facts.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import type { RunStatus } from '../../../src/migrations/run/run-status.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { clearStaging } from '../../../src/state/migrations.ts';
import { createPersonsBench, getReport, type PersonsBench, runOptions } from './persons-bench.ts';

/** Ways in which what an export says about persons never reached the destination. */

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

const overwrite = { people: { overwrite: true } };
const project = (name: string) => ({
  destination: bench.project(name),
});

it('what a top-up added is sent, although another migration came before it ended', async () => {
  const loaded = await bench.write('topped', [{ user: 'u1', device: 'a1', plan: 'x' }], project('topped'));
  getReport(await startMigration(bench.runtime, loaded, runOptions));
  bench.addFile(loaded, 'b.json', [{ user: 'u2', device: 'a2', plan: 'y' }]);
  const stop = new AbortController();
  const onStatus = ({ phase }: RunStatus) => {
    if (phase === 'people') stop.abort(new Error('enough'));
  };
  const topUp = { ...runOptions, signal: stop.signal, onStatus, topUp: true };
  expect(await startMigration(bench.runtime, loaded, topUp)).toMatchObject({ kind: 'stopped' });
  await bench.run('between', [{ user: 'u7', device: 'a7' }], project('topped'));
  bench.takeSent();

  const report = getReport(await resumeMigration(bench.runtime, 'topped', runOptions));
  expect(report.people).toMatchObject({ pairs: 2, mergedBefore: 1 });
  expect(bench.takeSent()).toEqual({
    merges: ['a2 → u2'],
    properties: ['{"id":"u2","$set_once":{"plan":"y"}}'],
  });
});

it('what one project was sent does not count as sent to another one under the same variable', async () => {
  const seen = [{ user: 'v1', device: 'b1', plan: 'x' }];
  await bench.run('rehearsal', seen);
  const { people } = await bench.run('production', seen, project('production'));
  expect(people).toMatchObject({ pairs: 1, persons: 1, events: { sent: 2 } });
});

describe('events about persons that the destination refuses', () => {
  const refuse = (events: number, text: string) =>
    text.includes('"$identify"') && text.includes('"w1"') && events >= 1
      ? { status: 400, body: '{"detail":"not now"}' }
      : undefined;

  it('keep the migration from finishing, and are sent by its resume', async () => {
    bench.takeSent();
    bench.destination.overrule(refuse);
    const seen = [
      { user: 'w1', device: 'c1', plan: 'x' },
      { user: 'w2', device: 'c2', plan: 'y' },
    ];
    const loaded = await bench.write('refused', seen, project('refused'));
    const result = await startMigration(bench.runtime, loaded, runOptions);
    expect(result).toMatchObject({
      kind: 'failed',
      failures: [
        { work: { name: 'persons' }, reason: expect.stringContaining('refused 2 events about persons') },
      ],
    });
    bench.destination.overrule(undefined);
    expect(bench.takeSent().merges).toEqual(['c2 → w2']);
    const { people } = getReport(await resumeMigration(bench.runtime, 'refused', runOptions));
    expect(people).toMatchObject({ pairs: 2, persons: 2, refusedCount: 0, events: { sent: 4, accepted: 4 } });
    expect(bench.takeSent()).toEqual({
      merges: ['c1 → w1'],
      properties: ['{"id":"w1","$set_once":{"plan":"x"}}'],
    });
  });

  it('are counted where the operator accepts refusals', async () => {
    bench.destination.overrule(refuse);
    const loaded = await bench.write(
      'accepted',
      [
        { user: 'w1', device: 'c3' },
        { user: 'w3', device: 'c4' },
      ],
      project('acc'),
    );
    await startMigration(bench.runtime, loaded, runOptions);
    const accept = { ...runOptions, acceptRefusals: true };
    const result = await resumeMigration(bench.runtime, 'accepted', accept);
    bench.destination.overrule(undefined);
    // One of the two merges arrived, and the end is no success.
    expect(result).toMatchObject({
      kind: 'rejects_above_threshold',
      report: { people: { refusedCount: 1, pairs: 1 } },
    });
    expect(bench.takeSent().merges).toEqual(['c4 → w3']);
  });
});

it('older values fill gaps while nobody knows whether newer ones were sent', async () => {
  const where = { ...project('open'), ...overwrite };
  const about = { user: 'x1', company: 'acme' };
  bench.destination.overrule((_, text) =>
    text.includes('"$identify"') || text.includes('"$group_identify"')
      ? { status: 401, body: '{"detail":"no"}' }
      : undefined,
  );
  const newer = await bench.write(
    'newer',
    [{ ...about, plan: 'new', size: '9', time: '2022-06-01T00:00:00Z' }],
    where,
  );
  const refused = await startMigration(bench.runtime, newer, runOptions);
  bench.destination.overrule(undefined);
  expect(refused).toMatchObject({ kind: 'held' });
  bench.takeSent();

  const older = [{ ...about, plan: 'old', size: '1', time: '2021-06-01T00:00:00Z' }];
  const { people } = await bench.run('older', older, where);
  expect(bench.takeSent().properties).toEqual(['{"id":"x1","$set_once":{"plan":"old"}}']);
  // Group properties always replace.
  expect(people.setAside).toEqual({ group_may_be_newer: 1 });
  expect(bench.listGroups()).toEqual([]);
});

it('older values fill gaps where a turn was half sent that the ledger knows nothing of', async () => {
  const { staging } = bench.runtime;
  const where = { ...project('half'), ...overwrite };
  const about = { user: 'x2', company: 'acorn' };
  bench.destination.overrule((_, text) =>
    text.includes('"$group_identify"') ? { status: 401, body: '{"detail":"no"}' } : undefined,
  );
  const newer = await bench.write('half-newer', [{ ...about, plan: 'new', size: '9' }], where);
  const paused = await startMigration(bench.runtime, newer, runOptions);
  bench.destination.overrule(undefined);
  expect(paused).toMatchObject({ kind: 'held' });
  const { id } = resolveLedger((await loadStoredManifest(staging, 'half-newer')).manifest, bench.runtime);
  await clearStaging(staging, ledgerLayout(id).prefix);
  bench.takeSent();

  await bench.run('half-older', [{ ...about, plan: 'old', time: '2021-06-01T00:00:00Z' }], where);
  expect(bench.takeSent().properties).toEqual(['{"id":"x2","$set_once":{"plan":"old"}}']);
});

it('while nobody knows whether a merge was sent, values of both ids are sent and replace nothing', async () => {
  const where = { ...project('unsure'), ...overwrite };
  bench.destination.overrule((_, text) =>
    text.includes('"$identify"') ? { status: 401, body: '{"detail":"no"}' } : undefined,
  );
  const seen = [{ user: 'otto', device: 'lamp' }];
  const held = await startMigration(bench.runtime, await bench.write('merge', seen, where), runOptions);
  bench.destination.overrule(undefined);
  expect(held).toMatchObject({ kind: 'held' });
  bench.takeSent();

  await bench.run('device', [{ device: 'lamp', plan: 'new', time: '2022-06-01T00:00:00Z' }], where);
  expect(bench.takeSent().properties).toEqual(['{"id":"lamp","$set_once":{"plan":"new"}}']);
  await bench.run('user', [{ user: 'otto', plan: 'old', time: '2021-01-01T00:00:00Z' }], where);
  expect(bench.takeSent().properties).toEqual(['{"id":"otto","$set_once":{"plan":"old"}}']);
  await bench.run('later', [{ user: 'otto', plan: 'newest', time: '2023-01-01T00:00:00Z' }], where);
  expect(bench.takeSent().properties).toEqual(['{"id":"otto","$set":{"plan":"newest"}}']);
});

it('a group is not described where the ledger has forgotten what was sent of it', async () => {
  const where = { ...project('forgetful'), ...overwrite };
  const about = { user: 'y1', company: 'bolt' };
  await bench.run('before', [{ ...about, size: '9' }], where);
  const { staging, now } = bench.runtime;
  const { manifest } = await loadStoredManifest(staging, 'before');
  const deps = { staging, now, signal: runOptions.signal };
  await removeFacts(
    'before',
    { forget: true },
    { ...deps, resolveLedger: () => resolveLedger(manifest, bench.runtime) },
  );
  const older = [{ ...about, size: '1', time: '2021-06-01T00:00:00Z' }];
  const { people } = await bench.run('after', older, where);
  expect(people.setAside).toEqual({ group_may_be_newer: 1 });
  expect(bench.listGroups()).toEqual(['bolt {"size":"9"}']);
});

it('another migration under the name of one that was removed is not taken for it', async () => {
  const { staging } = bench.runtime;
  await bench.run('again', [{ user: 'z1', device: 'd1', plan: 'old' }], project('again'));
  await clearStaging(staging, layout('again').prefix);
  await staging.remove(layout('again').record);
  bench.takeSent();
  await bench.run('again', [{ user: 'z2', device: 'd2', plan: 'new' }], project('again'));
  expect(bench.takeSent()).toEqual({
    merges: ['d2 → z2'],
    properties: ['{"id":"z2","$set_once":{"plan":"new"}}'],
  });
});
