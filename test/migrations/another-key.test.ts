import { afterAll, beforeAll, expect, it } from 'vitest';
import { findHeld, sendHeldPersons } from '../../src/migrations/persons/send-held.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { layout } from '../../src/state/keys.ts';
import { createPersonsBench, type PersonsBench, runOptions } from './persons/persons-bench.ts';

/** A key of another project in the variable that a manifest names; the manifest names no project. */

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

const withAnotherKey = () => ({ ...bench.runtime, env: { KEY: 'phc_other' } });
const anotherKey = 'is another key than the one that events were sent with';

it('does not continue a part of which a batch was accepted', async () => {
  bench.destination.overrule((_, text) =>
    text.includes('"u3"') ? { status: 401, body: '{"detail":"no"}' } : undefined,
  );
  const seen = ['u1', 'u2', 'u3', 'u4'].map((user) => ({ user }));
  const loaded = await bench.write('midway', seen, { limits: { batch: { events: 1 } } });
  expect(await startMigration(bench.runtime, loaded, runOptions)).toMatchObject({ kind: 'held' });
  bench.destination.overrule(undefined);
  for await (const { key } of bench.runtime.staging.list(layout('midway').receipts)) expect.unreachable(key);

  await expect(resumeMigration(withAnotherKey(), 'midway', runOptions)).rejects.toThrow(anotherKey);
  expect(await resumeMigration(bench.runtime, 'midway', runOptions)).toMatchObject({ kind: 'finished' });
});

it('replays no rejects', async () => {
  const seen = [{ user: 'r1' }, { user: 'r2', time: '03/01/2021' }];
  const loaded = await bench.write('rejected', seen);
  await startMigration(bench.runtime, loaded, runOptions);
  await expect(replayRejects(withAnotherKey(), 'rejected', { loaded }, runOptions)).rejects.toThrow(
    anotherKey,
  );
  expect(await replayRejects(bench.runtime, 'rejected', { loaded }, runOptions)).toMatchObject({
    migration: 'rejected.replay-1',
  });
});

it('sends no persons that were held', async () => {
  await bench.run('held', [{ user: 'h1', device: 'd1' }], { persons: 'hold' });
  const held = await findHeld(bench.runtime.staging, { kind: 'names', names: ['held'] });
  if (!held) throw new Error('nothing is held');
  await expect(sendHeldPersons(withAnotherKey(), held, runOptions)).rejects.toThrow(anotherKey);
  expect(await sendHeldPersons(bench.runtime, held, runOptions)).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual(['d1 → h1']);
});
