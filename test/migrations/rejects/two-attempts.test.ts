import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireMigration } from '../../../src/migrations/life-store.ts';
import { listRejects } from '../../../src/migrations/rejects/rejects.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { loadReport } from '../../../src/migrations/report.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import { resumeMigration } from '../../../src/migrations/start.ts';
import { loadStatus } from '../../../src/migrations/status/watch.ts';
import { layout } from '../../../src/state/keys/migration.ts';
import { listSlices } from '../../../src/state/migrations.ts';
import { importing, type MigrationLab, openMigrationLab } from '../../support/migration-lab.ts';
import {
  beginRejected,
  expectAllReplayed,
  expectOneOfTwo,
  listLeft,
  loadOwn,
  replay,
  sleepBefore,
} from '../../support/two-replays.ts';

const remove = (name: string) =>
  removeMigration(lab.runtime, name, { resolveLedger: (manifest) => resolveLedger(manifest, lab.runtime) });

/** A replay is staged before it has its record: processes that try the same one may sleep or be killed meanwhile. */
let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

it.each([
  ['part', 'it writes a part'],
  ['description', 'it describes the part'],
  ['origins', 'it writes of which records it is'],
  ['receipt', 'it writes that all is staged'],
  ['record', 'it creates the record'],
] as const)('an attempt that sleeps through another one changes nothing of it: %s', (name, step) =>
  expectOneOfTwo(lab, `asleep-${name}`, step),
);

it('counts nothing of an attempt that was killed after another one became the replay', async () => {
  const [name, first] = ['killed', 'killed.replay-1'];
  await beginRejected(lab, name);
  const { staging } = lab.runtime;
  const end = sleepBefore(staging, first, 'it creates the record'); // for good
  const start = sleepBefore(end.staging, first, 'it writes a part');
  void replay(lab, name, 'bad_timestamp', { staging: start.staging });
  await start.asleep;
  await replay(lab, name, 'no_identity');
  start.wake();
  await end.asleep;
  expect(await listLeft(staging, first)).toHaveLength(4);

  expect(await loadReport(lab.runtime, first)).toMatchObject({
    balanced: true,
    counts: { read: 2, delivered: 2 },
  });
  expect(await loadStatus(lab.runtime, first)).toMatchObject([
    { state: 'finished', parts: { done: 1, staged: 1 } },
  ]);
  expect(await listRejects(lab.runtime, name)).toMatchObject({
    reasons: [
      { reason: 'bad_timestamp', left: 2 },
      { reason: 'no_identity', left: 0 },
    ],
  });
  await remove(first);
  expect(await listLeft(staging, first)).toEqual([]);
  await replay(lab, name, 'bad_timestamp');
  await expectAllReplayed(lab, name);
});

it('resumes a replay that an earlier version staged', async () => {
  const [name, replayed] = ['earlier', 'earlier.replay-1'];
  await beginRejected(lab, name);
  const { staging } = lab.runtime;
  const stop = new AbortController();
  const staged = importing({
    signal: stop.signal,
    importHere: false,
    onStatus: ({ parts }) => parts.known === 1 && stop.abort(new Error('enough')),
  });
  expect(await replay(lab, name, 'no_identity', { options: staged })).toMatchObject({ kind: 'stopped' });
  // It knew one attempt alone, so its slices are the same in each.
  const [slice = ''] = listSlices(await requireMigration(staging, replayed));
  const plain = slice.replace(/-[0-9a-f]{12}$/, '');
  expect(plain).not.toBe(slice);
  for (const prefix of [layout(replayed).prefix, layout(replayed).record]) {
    for await (const { key } of staging.list(prefix)) {
      const body = (await staging.get(key)) ?? Buffer.of();
      await staging.remove(key);
      const isDocument = key.endsWith('.json');
      const earlier = isDocument ? Buffer.from(body.toString().replaceAll(slice, plain)) : body;
      await staging.put(key.replaceAll(slice, plain), earlier);
    }
  }
  expect(await resumeMigration(lab.runtime, replayed, importing())).toMatchObject({
    kind: 'finished',
    report: { balanced: true, counts: { read: 2, delivered: 2 } },
  });
  await replay(lab, name, 'bad_timestamp');
  await expectAllReplayed(lab, name);
});

it('removes nothing that another process may be about to own', async () => {
  const name = 'both';
  await beginRejected(lab, name);
  const { staging } = lab.runtime;
  const first = sleepBefore(staging, 'both.replay-1', 'it creates the record');
  const one = replay(lab, name, 'bad_timestamp', { staging: first.staging }).catch((error: unknown) => error);
  await first.asleep;
  // It finds what the first one has staged.
  const second = sleepBefore(staging, 'both.replay-1', 'it removes anything');
  const other = replay(lab, name, 'no_identity', { staging: second.staging }).catch(
    (error: unknown) => error,
  );
  await second.asleep;
  first.wake();
  const ended = [await one];
  const own = await loadOwn(staging, 'both.replay-1');
  second.wake();
  ended.push(await other);
  const after = await loadOwn(staging, 'both.replay-1');
  for (const [key, body] of own)
    if (!/\/(progress|control)\//.test(key)) expect(after.get(key), key).toBe(body);
  expect(ended.filter((end) => end instanceof Error)).toHaveLength(1);
  expect(ended).toContainEqual(
    expect.objectContaining({ kind: 'finished', report: expect.objectContaining({ balanced: true }) }),
  );
  for (const reason of ['bad_timestamp', 'no_identity'] as const) await replay(lab, name, reason);
  await expectAllReplayed(lab, name);
});

/** An attempt that sleeps before a step; `rm` of its migration meanwhile. */
async function removeMeanwhile(name: string, step: Parameters<typeof sleepBefore>[2]) {
  await beginRejected(lab, name);
  const { staging } = lab.runtime;
  const sleeper = sleepBefore(staging, `${name}.replay-1`, step);
  const slept = replay(lab, name, 'bad_timestamp', { staging: sleeper.staging }).catch(
    (error: unknown) => error,
  );
  await sleeper.asleep;
  await remove(name);
  const left: string[] = [];
  for await (const { key } of staging.list(layout(`${name}.replay-1`).prefix)) left.push(key);
  const ended = () => {
    sleeper.wake();
    return slept;
  };
  return { left, ended };
}

it('removes with a migration what was staged for a replay that never began', async () => {
  const { left, ended } = await removeMeanwhile('gone', 'it writes of which records it is');
  expect(left).toEqual([expect.stringMatching(/^gone\.replay-1\/files\/[^/]+\.json$/)]);
  expect(await lab.runtime.staging.get(left[0] ?? '')).toMatchObject({ length: expect.any(Number) });
  expect(await ended()).toMatchObject({ message: expect.stringContaining('was started by another process') });
  expect(await loadStatus(lab.runtime, 'gone.replay-1').catch(() => [])).toEqual([]);
  expect(await listLeft(lab.runtime.staging, 'gone.replay-1')).toEqual([]);
});

it('leaves a replay alone that is about to begin while its migration is removed', async () => {
  const { left, ended } = await removeMeanwhile('begins', 'it creates the record');
  expect(left).toHaveLength(4);
  expect(await ended()).toMatchObject({
    kind: 'finished',
    report: { balanced: true, counts: { read: 2, delivered: 2 } },
  });
});
