import { pino } from 'pino';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { findHeld, sendHeldPersons } from '../../src/migrations/persons/send-held.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { startRuntimeWorkers } from '../../src/runtime/queues.ts';
import { layout } from '../../src/state/keys/migration.ts';
import { createPersonsBench, type PersonsBench, runOptions } from './persons/persons-bench.ts';

/** A key of another project in the variable that a manifest names; the manifest names no project. */

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

const ANOTHER_KEY = { KEY: 'phc_other' };
const withAnotherKey = () => ({ ...bench.runtime, env: ANOTHER_KEY });
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

it('replays no rejects that a removal kept', async () => {
  // Of its own: a project that has removed migrations by its key takes none by a name.
  const other = await createPersonsBench();
  onTestFinished(() => other.close());
  const { runtime } = other;
  const seen = [{ user: 'k1' }, { user: 'k2', time: '03/01/2021' }];
  const loaded = await other.write('removed', seen);
  await startMigration(runtime, loaded, runOptions);
  await removeMigration(runtime, 'removed', {
    keepRejects: true,
    resolveLedger: (manifest) => resolveLedger(manifest, runtime),
  });
  const replay = replayRejects({ ...runtime, env: ANOTHER_KEY }, 'removed', { loaded }, runOptions);
  await expect(replay).rejects.toThrow(anotherKey);
});

it('sends no persons that were held', async () => {
  await bench.run('held', [{ user: 'h1', device: 'd1' }], { persons: 'hold' });
  const held = await findHeld(bench.runtime.staging, { kind: 'names', names: ['held'] });
  if (!held) throw new Error('nothing is held');
  await expect(sendHeldPersons(withAnotherKey(), held, runOptions)).rejects.toThrow(anotherKey);
  expect(await sendHeldPersons(bench.runtime, held, runOptions)).toMatchObject({ kind: 'finished' });
  expect(bench.takeSent().merges).toEqual(['d1 → h1']);
});

it('does not begin a replay that was interrupted before anything of it was accepted', async () => {
  const refuse = (text: string) => (_: unknown, body: string) =>
    body.includes(text) ? { status: 400, body: '{"detail":"no such event"}' } : undefined;
  bench.destination.overrule(refuse('"c2"'));
  const loaded = await bench.write('cut', [{ user: 'c1' }, { user: 'c2' }]);
  await startMigration(bench.runtime, loaded, runOptions);
  bench.destination.overrule(() => ({ status: 401, body: '{"detail":"no"}' }));
  expect(await replayRejects(bench.runtime, 'cut', { loaded }, runOptions)).toMatchObject({
    kind: 'held',
    migration: 'cut.replay-1',
  });
  await expectNoRequest(() => resumeMigration(withAnotherKey(), 'cut.replay-1', runOptions));
  expect(await resumeMigration(bench.runtime, 'cut.replay-1', runOptions)).toMatchObject({
    kind: 'finished',
  });
});

it('does not begin to send held persons either', async () => {
  await bench.run('kept', [{ user: 'k1', device: 'e1' }], { persons: 'hold' });
  const held = await findHeld(bench.runtime.staging, { kind: 'names', names: ['kept'] });
  if (!held) throw new Error('nothing is held');
  bench.destination.overrule(() => ({ status: 401, body: '{"detail":"no"}' }));
  expect(await sendHeldPersons(bench.runtime, held, runOptions)).toMatchObject({ kind: 'held' });
  await expectNoRequest(() => resumeMigration(withAnotherKey(), 'kept.persons-1', runOptions));
  bench.takeSent();
  expect(await resumeMigration(bench.runtime, 'kept.persons-1', runOptions)).toMatchObject({
    kind: 'finished',
  });
  expect(bench.takeSent().merges).toEqual(['e1 → k1']);
});

it.each([
  ['unnamed', undefined],
  ['named', 'a named project'],
])(
  'sends nothing of %s as a worker of another environment',
  async (name, project) => {
    let refuse: (message: string) => void = () => {};
    const refused = new Promise<string>((resolve) => {
      refuse = resolve;
    });
    const log = pino({ level: 'error' }, { write: refuse });
    const before = bench.destination.requests.length;
    const workers = { concurrency: 1, produces: undefined };
    const another = startRuntimeWorkers({ ...withAnotherKey(), log }, workers);
    const destination = { url: bench.destination.url, apiKey: '${KEY}', ...(project ? { project } : {}) };
    const loaded = await bench.write(name, [{ user: 'f1' }, { user: 'f2' }], { destination });
    const running = startMigration(bench.runtime, loaded, { ...runOptions, importHere: false });
    expect(await refused).toContain(`not send with the key of the run of migration \\"${name}\\"`);
    expect(bench.destination.requests).toHaveLength(before);

    const own = startRuntimeWorkers(bench.runtime, workers);
    expect(await running).toMatchObject({ kind: 'finished' });
    await Promise.all([own.close(), another.close()]);
  },
  60_000,
);

async function expectNoRequest(work: () => Promise<unknown>): Promise<void> {
  let requests = 0;
  bench.destination.overrule(() => {
    requests += 1;
    return undefined;
  });
  await expect(work()).rejects.toThrow(anotherKey);
  expect(requests).toBe(0);
  bench.destination.overrule(undefined);
}
