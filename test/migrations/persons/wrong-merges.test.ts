import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Manifest } from '../../../config/manifest/manifest.ts';
import { cancelMigration } from '../../../src/migrations/control.ts';
import { loadStoredManifest } from '../../../src/migrations/manifest/stored-manifest.ts';
import { findHeld, sendHeldPersons } from '../../../src/migrations/persons/send-held.ts';
import { replayRejects } from '../../../src/migrations/rejects/replay.ts';
import { removeMigration } from '../../../src/migrations/remove/remove-migration.ts';
import { resolveLedger } from '../../../src/migrations/resolve-destination.ts';
import type { RunStatus } from '../../../src/migrations/run/run-status.ts';
import { resumeMigration, startMigration } from '../../../src/migrations/start.ts';
import { ledgerLayout } from '../../../src/state/keys/ledger.ts';
import { toLedgerAccess } from '../../../src/state/ledger/ledger.ts';
import { clearStaging } from '../../../src/state/migrations.ts';
import { createPersonsBench, getReport, type PersonsBench, runOptions } from './persons-bench.ts';

/** Ways in which two persons became one at the destination. */

let bench: PersonsBench;
beforeAll(async () => {
  bench = await createPersonsBench();
});
afterAll(() => bench?.close());

const project = (name: string) => ({
  destination: bench.project(name),
});

it('a known user without an anonymous id is not merged into whoever has its id as anonymous one', async () => {
  const seen = [
    { user: 'bob', device: 'alice', plan: 'b', time: '2021-01-01T00:00:00Z' },
    { user: 'alice', plan: 'a', time: '2021-01-02T00:00:00Z' },
  ];
  const { people } = await bench.run('users', seen);
  expect(people).toMatchObject({ pairs: 0, setAside: { already_identified: 1 } });
  expect(bench.takeSent()).toEqual({
    merges: [],
    properties: ['{"id":"alice","$set_once":{"plan":"a"}}', '{"id":"bob","$set_once":{"plan":"b"}}'],
  });
});

it('a device that others used is merged into nobody, although their events are dropped', async () => {
  const seen = [
    { user: 'dora', device: 'kiosk' },
    { user: 'emil', device: 'kiosk', e: 'ping' },
    { user: 'gus', device: 'fay' },
    { user: 'fay', e: 'ping' },
  ];
  const { people } = await bench.run('dropped', seen, project('dropped'));
  expect(people).toMatchObject({ pairs: 0, setAside: { shared_device: 1, already_identified: 1 } });
  expect(bench.takeSent().merges).toEqual([]);
});

it('a device that others used is merged into nobody, although their records are rejected or have no time', async () => {
  const ofOthers = [
    { user: 'emil', device: 'kiosk', time: 'soon' },
    { user: 'fay', time: 'soon' },
    { user: 'ida', device: 'pad', e: 'ping', time: '' },
  ];
  const others = { ...project('rejected'), rejects: { failAbove: '90%' } };
  const seen = [
    { user: 'dora', device: 'kiosk' },
    { user: 'gus', device: 'fay' },
    { user: 'hal', device: 'pad' },
  ];
  const { people, counts } = await bench.run('rejected', [...seen, ...ofOthers], others);
  expect(counts).toMatchObject({ delivered: 3, rejected: 2, skipped: 1 });
  expect(people).toMatchObject({ pairs: 0, setAside: { shared_device: 2, already_identified: 1 } });
  expect(bench.takeSent().merges).toEqual([]);
});

it('a device that a person of a later column used is merged into nobody', async () => {
  const column = ['user', 'plan', 'device'];
  const loaded = await bench.write(
    'later',
    [
      { user: 'kim', device: 'tab' },
      { plan: 'lou@example.com', device: 'tab' },
    ],
    project('later'),
  );
  const mapping = { ...(Reflect.get(loaded.manifest.source, 'mapping') as object), distinctId: { column } };
  const source = { ...loaded.manifest.source, mapping } as Manifest['source'];
  const manifest = { ...loaded.manifest, source };
  const { people } = getReport(await startMigration(bench.runtime, { ...loaded, manifest }, runOptions));
  expect(people).toMatchObject({ pairs: 0, setAside: { shared_device: 1 } });
  expect(bench.takeSent().merges).toEqual([]);
});

it('nothing reaches a user that was merged into another one before it was known as a user', async () => {
  const where = { ...project('chain'), people: { overwrite: true } };
  await bench.run('chain-1', [{ user: 'vera', device: 'ulla', plan: 'v' }], where);
  expect(bench.takeSent().merges).toEqual(['ulla → vera']);
  const seen = [
    { user: 'ulla', device: 'pad' },
    { device: 'pad', plan: 'u' },
  ];
  const { people } = await bench.run('chain-2', seen, where);
  expect(people).toMatchObject({ pairs: 0, persons: 0, setAside: { contradicted_merge: 1, merged_user: 1 } });
  expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
});

it('a merge that was left out does not count as sent', async () => {
  const where = project('left-out');
  await bench.run('left-out-1', [{ user: 'vito', device: 'ugo' }], where);
  const second = await bench.run('left-out-2', [{ user: 'ugo', device: 'slate' }], where);
  expect(second.people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1, merged_user: 1 } });
  bench.takeSent();
  const seen = [
    { user: 'wim', device: 'slate' },
    { device: 'slate', plan: 's' },
  ];
  const { people } = await bench.run('left-out-3', seen, where);
  expect(people).toMatchObject({ pairs: 0, persons: 1, setAside: { shared_device: 1 } });
  expect(people.setAside).not.toHaveProperty('contradicted_merge');
  expect(bench.takeSent()).toEqual({ merges: [], properties: ['{"id":"slate","$set_once":{"plan":"s"}}'] });

  // Still it is left out as often as it is asked for.
  const again = await bench.run('left-out-4', [{ user: 'ugo', device: 'board' }], where);
  expect(again.people).toMatchObject({ pairs: 0, setAside: { merged_user: 1 } });
  const last = await bench.run(
    'left-out-5',
    [
      { user: 'ugo', device: 'board' },
      { device: 'board', plan: 'b' },
    ],
    where,
  );
  expect(last.people).toMatchObject({ pairs: 0, persons: 0, setAside: { merged_user: 1 } });
  expect(bench.takeSent()).toEqual({ merges: [], properties: [] });
});

it('rejects are not replayed before the migration has finished, unless persons are held', async () => {
  const seen = [
    { user: 'alan', device: 'hall' },
    { user: 'alan', device: 'hall', time: '03/01/2021' },
  ];
  const loaded = await bench.write('half', seen, project('half'));
  const stop = new AbortController();
  const onStatus = ({ phase }: RunStatus) => {
    if (phase === 'people') stop.abort(new Error('enough'));
  };
  await startMigration(bench.runtime, loaded, { ...runOptions, signal: stop.signal, onStatus });
  await expect(replayRejects(bench.runtime, 'half', { loaded }, runOptions)).rejects.toThrow(
    'migration "half" has not finished',
  );
  await resumeMigration(bench.runtime, 'half', runOptions);
  expect(await replayRejects(bench.runtime, 'half', { loaded }, runOptions)).toMatchObject({
    migration: 'half.replay-1',
  });
  bench.takeSent();
});

it('where too many records are rejected nothing is merged until a replay has heard them', async () => {
  const seen = [
    { user: 'hugo', device: 'pad' },
    { user: 'iris', device: 'own' },
    { user: 'jana', device: 'pad', time: '1641168000' },
  ];
  const loaded = await bench.write('many', seen, { ...project('many'), rejects: { failAbove: '1%' } });
  const ended = await startMigration(bench.runtime, loaded, runOptions);
  expect(ended).toMatchObject({ kind: 'rejects_above_threshold', report: { people: { held: true } } });
  expect(bench.takeSent()).toEqual({ merges: [], properties: [] });

  const mapping = {
    ...(Reflect.get(loaded.manifest.source, 'mapping') as object),
    timestamp: { column: 't', format: 'epoch_s' },
  };
  const source = { ...loaded.manifest.source, mapping } as Manifest['source'];
  const corrected = { ...loaded, manifest: { ...loaded.manifest, source } };
  const replay = getReport(await replayRejects(bench.runtime, 'many', { loaded: corrected }, runOptions));
  expect(replay.people).toMatchObject({ pairs: 0, held: true });
  expect(bench.takeSent()).toEqual({ merges: [], properties: [] });

  const held = await findHeld(bench.runtime.staging, { kind: 'names', names: ['many'] });
  if (!held) throw new Error('nothing is held');
  const { people } = getReport(await sendHeldPersons(bench.runtime, held, runOptions));
  expect(people).toMatchObject({ pairs: 1, setAside: { shared_device: 1 } });
  expect(bench.takeSent().merges).toEqual(['own → iris']);
  expect(
    await findHeld(bench.runtime.staging, { kind: 'manifest', manifest: loaded.manifest }),
  ).toBeUndefined();
});

it('a replay holds its persons while its migration does, and those of both are sent together', async () => {
  const seen = [
    { user: 'nils', plan: 'new', time: '2023-01-01T00:00:00Z' },
    { user: 'nils', plan: 'old', time: '2020-01-01T00:00:00Z', e: '' },
    { user: 'lea', device: 'desk', e: '' },
    { user: 'lea', device: 'till', e: '' },
    { user: 'mark', device: 'till', time: 'yesterday' },
  ];
  const loaded = await bench.write('both', seen, { ...project('both'), rejects: { failAbove: '1%' } });
  expect(await startMigration(bench.runtime, loaded, runOptions)).toMatchObject({
    report: { counts: { rejected: 4 }, people: { held: true } },
  });
  const mapping = {
    ...(Reflect.get(loaded.manifest.source, 'mapping') as object),
    event: { column: ['e', 'user'] },
  };
  const source = { ...loaded.manifest.source, mapping } as Manifest['source'];
  const corrected = { ...loaded, manifest: { ...loaded.manifest, source } };
  const input = { loaded: corrected, reason: 'no_event_name' };
  expect(getReport(await replayRejects(bench.runtime, 'both', input, runOptions))).toMatchObject({
    counts: { delivered: 3, rejected: 0 },
    people: { held: true },
  });
  expect(bench.takeSent()).toEqual({ merges: [], properties: [] });

  const held = await findHeld(bench.runtime.staging, { kind: 'names', names: ['both'] });
  if (!held) throw new Error('nothing is held');
  expect(held.names).toEqual(['both', 'both.replay-1']);
  await sendHeldPersons(bench.runtime, held, runOptions);
  expect(bench.takeSent()).toEqual({
    // The record that stays rejected says who else used the till.
    merges: ['desk → lea'],
    properties: ['{"id":"nils","$set_once":{"plan":"new"}}'],
  });
});

it('rejects of a cancelled migration are not replayed either, as it can be resumed, until it is removed', async () => {
  const seen = [
    { user: 'ines', device: 'desk' },
    { user: 'ines', device: 'desk', time: '03/01/2021' },
  ];
  const loaded = await bench.write('given-up', seen, project('given-up'));
  const stop = new AbortController();
  const onStatus = ({ phase }: RunStatus) => {
    if (phase === 'people') stop.abort(new Error('enough'));
  };
  await startMigration(bench.runtime, loaded, { ...runOptions, signal: stop.signal, onStatus });
  await cancelMigration(bench.runtime, 'given-up', 'not wanted');
  bench.takeSent();
  await expect(replayRejects(bench.runtime, 'given-up', { loaded }, runOptions)).rejects.toThrow(
    '"backhaul rm given-up --keep-rejects"',
  );
  expect(bench.takeSent()).toEqual({ merges: [], properties: [] });

  const toLedger = (manifest: Manifest) => resolveLedger(manifest, bench.runtime);
  await removeMigration(bench.runtime, 'given-up', { keepRejects: true, resolveLedger: toLedger });
  await expect(resumeMigration(bench.runtime, 'given-up', runOptions)).resolves.toMatchObject({
    kind: 'refused',
  });
  expect(await replayRejects(bench.runtime, 'given-up', { loaded }, runOptions)).toMatchObject({
    migration: 'given-up.replay-1',
  });
  bench.takeSent();
});

it('a ledger that lost a bucket is made again from the migrations', async () => {
  const { staging } = bench.runtime;
  const where = project('lossy');
  await bench.run(
    'lossy-1',
    ['alma', 'boris'].map((user) => ({ user, device: 'bench' })),
    where,
  );
  expect(bench.takeSent().merges).toEqual([]);
  const ledger = resolveLedger((await loadStoredManifest(staging, 'lossy-1')).manifest, bench.runtime);
  const keys = ledgerLayout(ledger.id);
  await clearStaging(staging, keys.table('ids'));
  const { people } = await bench.run('lossy-2', [{ user: 'carla', device: 'bench' }], where);
  expect(people).toMatchObject({ pairs: 0, setAside: { shared_device: 1 } });

  await staging.remove(keys.document); // and with it the key of all hashes
  const third = await bench.run('lossy-3', [{ user: 'dirk', device: 'bench' }], where);
  // Each of the others is taken to have sent what holds over its own facts alone.
  expect(third.people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  expect(bench.takeSent().merges).toEqual([]);
});

it('nothing of a ledger is deleted while it cannot be made again', async () => {
  const { staging } = bench.runtime;
  const where = project('sole');
  await bench.run('sole-1', [{ user: 'emil', device: 'shelf' }], where);
  const { manifest } = await loadStoredManifest(staging, 'sole-1');
  const { id } = resolveLedger(manifest, bench.runtime);
  await removeMigration(bench.runtime, 'sole-1', {
    resolveLedger: (of) => resolveLedger(of, bench.runtime),
  });
  await clearStaging(staging, ledgerLayout(id).allVersions);
  const next = [{ user: 'frida', device: 'shelf' }];
  const loaded = await bench.write('sole-2', next, where);
  await expect(startMigration(bench.runtime, loaded, runOptions)).rejects.toThrow(
    '"backhaul rm sole-1 --forget"',
  );
  const left: string[] = [];
  for await (const { key } of staging.list(ledgerLayout(id).table('ids'))) left.push(key);
  expect(left).not.toEqual([]);
  bench.takeSent();

  await removeMigration(bench.runtime, 'sole-1', {
    forget: true,
    resolveLedger: (of) => resolveLedger(of, bench.runtime),
  });
  await resumeMigration(bench.runtime, 'sole-2', runOptions);
  expect(bench.takeSent().merges).toEqual([]);
});

it.each(['its ids', 'all of it'])(
  'what an open turn entered is entered again where the ledger lost %s',
  async (what) => {
    const { staging } = bench.runtime;
    const name = what.replaceAll(' ', '-');
    const where = project(name);
    bench.destination.overrule((_, text) =>
      text.includes('"$identify"') ? { status: 401, body: '{"detail":"no"}' } : undefined,
    );
    const seen = [{ user: 'anna', device: name }];
    const paused = await startMigration(
      bench.runtime,
      await bench.write(`${name}-1`, seen, where),
      runOptions,
    );
    bench.destination.overrule(undefined);
    expect(paused).toMatchObject({ kind: 'held' });
    const { id } = resolveLedger((await loadStoredManifest(staging, `${name}-1`)).manifest, bench.runtime);
    const keys = ledgerLayout(id);
    await clearStaging(staging, what === 'its ids' ? keys.table('ids') : keys.prefix);
    bench.takeSent();

    await resumeMigration(bench.runtime, `${name}-1`, runOptions);
    expect(bench.takeSent().merges).toEqual([`${name} → anna`]);
    const { people } = await bench.run(`${name}-2`, [{ user: 'bert', device: name }], where);
    expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
    expect(bench.takeSent().merges).toEqual([]);
  },
);

it('damaged documents of a ledger that can be made again stop no migration', async () => {
  const { staging } = bench.runtime;
  const where = project('damaged');
  await bench.run('damaged-1', [{ user: 'clara', device: 'sofa' }], where);
  const { id } = resolveLedger((await loadStoredManifest(staging, 'damaged-1')).manifest, bench.runtime);
  const keys = ledgerLayout(id);
  bench.takeSent();
  for (const [n, folder] of [keys.knownFacts, keys.allVersions].entries()) {
    for await (const { key } of staging.list(folder)) await staging.put(key, Buffer.alloc(0));
    const { people } = await bench.run(`damaged-${n + 2}`, [{ user: `dora-${n}`, device: 'sofa' }], where);
    expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  }
  expect(bench.takeSent().merges).toEqual([]);
});

it('a key is of one project, whatever the host is called; a name is of one project at each host', async () => {
  const at = (url: string, name?: string) => toLedgerAccess({ url, project: name, apiKey: 'phc_1' }).id;
  expect(at('https://eu.example.com')).toBe(at('https://events.example.com'));
  expect(at('https://eu.example.com', 'shop')).not.toBe(at('https://us.example.com', 'shop'));
  const declared = { project: 'shop', service: 'eu.example.com', apiKey: 'phc_1' };
  expect(toLedgerAccess({ url: 'https://events.example.com', ...declared }).id).toBe(
    at('https://eu.example.com', 'shop'),
  );
});

it('one name of a project at two hosts is sent to only when the manifest declares what it means', async () => {
  const { url } = bench.destination;
  const { host } = new URL(url);
  const at = (service?: string) => ({
    destination: {
      ...bench.project('named'),
      url: url.replace('127.0.0.1', 'localhost'),
      ...(service === undefined ? {} : { service }),
    },
  });
  await bench.run('host-1', [{ user: 'emil', device: 'dish' }], project('named'));
  const before = bench.destination.requests.length;
  const undeclared = await bench.write('host-2', [{ user: 'frida', device: 'dish' }], at());
  await expect(startMigration(bench.runtime, undeclared, runOptions)).rejects.toThrow(
    `"service: ${host}" if both hosts lead to the same project`,
  );
  expect(bench.destination.requests).toHaveLength(before);
  bench.takeSent();

  const { people } = await bench.run('host-2', [{ user: 'frida', device: 'dish' }], at(host));
  expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  await bench.run('host-3', [{ user: 'gustav', device: 'dish' }], at('other'));
  expect(bench.takeSent().merges).toEqual(['dish → gustav']);
});

it('what is under way under one key is taken into account under another name of its host', async () => {
  const { url } = bench.destination;
  const stop = new AbortController();
  const onStatus = ({ phase }: RunStatus) => {
    if (phase === 'people') stop.abort(new Error('enough'));
  };
  const loaded = await bench.write('key-1', [{ user: 'hanna', device: 'stool' }]);
  await startMigration(bench.runtime, loaded, { ...runOptions, signal: stop.signal, onStatus });
  const elsewhere = { destination: { url: url.replace('127.0.0.1', 'localhost'), apiKey: '${KEY_2}' } };
  const { people } = await bench.run('key-2', [{ user: 'igor', device: 'stool' }], elsewhere);
  expect(people).toMatchObject({ pairs: 0, setAside: { shared_device: 1 } });
  bench.takeSent();
});

it('a migration whose persons are being sent with others keeps its facts', async () => {
  const where = { ...project('sending'), persons: 'hold' };
  await bench.run('kept-1', [{ user: 'fritz', device: 'stand' }], where);
  await bench.run('kept-2', [{ user: 'gerd', device: 'stand' }], where);
  const held = await findHeld(bench.runtime.staging, { kind: 'names', names: ['kept-1', 'kept-2'] });
  if (!held) throw new Error('nothing is held');
  const stop = new AbortController();
  const onStatus = ({ phase }: RunStatus) => {
    if (phase === 'people') stop.abort(new Error('enough'));
  };
  await sendHeldPersons(bench.runtime, held, { ...runOptions, signal: stop.signal, onStatus });
  const forget = { forget: true, resolveLedger: () => expect.unreachable() };
  await expect(removeMigration(bench.runtime, 'kept-2', forget)).rejects.toThrow(
    'migration "kept-1.persons-1" has begun to send the persons of "kept-2"',
  );

  // What was removed holds nobody up.
  const resolve = { resolveLedger: () => expect.unreachable() };
  await removeMigration(bench.runtime, 'kept-1.persons-1', resolve);
  expect(await findHeld(bench.runtime.staging, { kind: 'names', names: ['kept-2'] })).toMatchObject({
    names: ['kept-2'],
    begun: undefined,
  });
});

it('a key is of one project, whether or not a manifest names it, under any variable and host', async () => {
  const { url } = bench.destination;
  const elsewhere = url.replace('127.0.0.1', 'localhost');
  const named = { destination: { url, apiKey: '${KEY}', project: 'one' } };
  const unnamed = { destination: { url, apiKey: '${KEY_2}' } };
  const orders = [
    [named, unnamed],
    [unnamed, named],
    [named, { destination: { ...unnamed.destination, url: elsewhere, apiKey: '${KEY}' } }],
  ];
  bench.takeSent();
  for (const [n, [first, second]] of orders.entries()) {
    await bench.run(`either-${n}-1`, [{ user: `jan-${n}`, device: `swing-${n}` }], first);
    const { people } = await bench.run(`either-${n}-2`, [{ user: `kai-${n}`, device: `swing-${n}` }], second);
    expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  }
  expect(bench.takeSent().merges).toEqual(['swing-0 → jan-0', 'swing-1 → jan-1', 'swing-2 → jan-2']);
});

it('what is known under a key alone refuses a migration under a name, once its facts were removed', async () => {
  const own = await createPersonsBench();
  onTestFinished(() => own.close());
  const { url } = own.destination;
  await own.run('gone-1', [{ user: 'lisa', device: 'slide' }], { destination: { url, apiKey: '${KEY_2}' } });
  await removeMigration(own.runtime, 'gone-1', { resolveLedger: () => expect.unreachable() });
  own.takeSent();
  const named = { destination: { url, apiKey: '${KEY}', project: 'gone' } };
  const seen = [{ user: 'mila', device: 'slide' }];
  await expect(own.run('gone-2', seen, named)).rejects.toThrow('known by the key alone');
  expect(own.takeSent().merges).toEqual([]);
});

it('a name that was removed refuses a migration under its key alone, whatever the variable is called', async () => {
  const own = await createPersonsBench();
  onTestFinished(() => own.close());
  const { url } = own.destination;
  const where = { destination: { url, apiKey: '${KEY}', project: 'left' } };
  await own.run('left-1', [{ user: 'nele', device: 'seesaw' }], where);
  await removeMigration(own.runtime, 'left-1', { resolveLedger: () => expect.unreachable() });
  own.takeSent();
  const elsewhere = { destination: { url: url.replace('127.0.0.1', 'localhost'), apiKey: '${KEY_2}' } };
  const seen = [{ user: 'otto', device: 'seesaw' }];
  const { host } = new URL(url);
  await expect(own.run('left-2', seen, elsewhere)).rejects.toThrow(
    `write "project: left" and "service: ${host}" under destination`,
  );
  const told = { destination: { ...elsewhere.destination, project: 'left', service: host } };
  const { people } = await own.run('left-2', seen, told);
  expect(people.setAside).toEqual({ contradicted_merge: 1 });
  expect(own.takeSent().merges).toEqual([]);
});

it('one key under two names at two hosts is refused until it is declared', async () => {
  const own = await createPersonsBench();
  onTestFinished(() => own.close());
  const { url } = own.destination;
  const named = (project: string, host: string, service?: string) => ({
    destination: {
      url: url.replace('127.0.0.1', host),
      apiKey: '${KEY}',
      project,
      ...(service === undefined ? {} : { service }),
    },
  });
  await own.run('name-1', [{ user: 'paula', device: 'ramp' }], named('shop', '127.0.0.1'));
  const seen = [{ user: 'quentin', device: 'ramp' }];
  const { host } = new URL(url);
  const sent = own.destination.requests.length;
  await expect(own.run('name-2', seen, named('store', 'localhost'))).rejects.toThrow(
    `"project: shop" with "service: ${host}" if both hosts lead to the same project`,
  );
  expect(own.destination.requests).toHaveLength(sent);
  own.takeSent();
  const { people } = await own.run('name-3', seen, named('shop', 'localhost', host));
  expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  await removeMigration(own.runtime, 'name-3', { resolveLedger: (of) => resolveLedger(of, own.runtime) });
  await removeMigration(own.runtime, 'name-1', { resolveLedger: (of) => resolveLedger(of, own.runtime) });
  await expect(own.run('name-2', seen, named('store', 'localhost'))).rejects.toThrow(
    'A key is of one project',
  );
  await own.run('name-2', seen, named('store', 'localhost', host.replace('127.0.0.1', 'localhost')));
  expect(own.takeSent().merges).toEqual(['ramp → quentin']);
});

it('a second name for the project of a key is refused before anything is sent', async () => {
  const own = await createPersonsBench();
  onTestFinished(() => own.close());
  const named = (project: string, service?: string) => ({
    destination: { ...own.project('shop'), project, ...(service === undefined ? {} : { service }) },
  });
  await own.run('first', [{ user: 'rita', device: 'bell' }], named('shop'));
  const sent = own.destination.requests.length;
  const seen = [{ user: 'samir', device: 'bell' }];
  const loaded = await own.write('second', seen, named('store'));
  await expect(startMigration(own.runtime, loaded, runOptions)).rejects.toThrow(
    'write "project: shop" under destination of "second"',
  );
  expect(own.destination.requests).toHaveLength(sent);

  const { people } = await own.run('second', seen, named('shop'));
  expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  // Two services may have the same key.
  await own.run('elsewhere', seen, named('store', 'another.service'));
  expect(own.takeSent().merges).toEqual(['bell → rita', 'bell → samir']);

  // The first name counts as well when who brought it is removed.
  for (const name of ['first', 'second', 'elsewhere'])
    await removeMigration(own.runtime, name, { resolveLedger: (of) => resolveLedger(of, own.runtime) });
  await expect(own.run('third', seen, named('store'))).rejects.toThrow('write "project: shop"');
});

it('two names that a key has already are decided together, and the first one goes on', async () => {
  const own = await createPersonsBench();
  onTestFinished(() => own.close());
  const named = (project: string) => ({ destination: { ...own.project('shop'), project } });
  const refuse = { status: 401, body: '{"detail":"no"}' };
  own.destination.overrule(refuse);
  const first = await own.write('first', [{ user: 'rita', device: 'bell' }], named('shop'));
  expect(await startMigration(own.runtime, first, runOptions)).toMatchObject({ kind: 'held' });
  // Nobody knows yet that the key is of the other name.
  own.destination.overrule((_, text) => (text.includes('"$identify"') ? refuse : undefined));
  const seen = [
    { user: 'samir', device: 'bell' },
    { user: 'samir', device: 'lamp' },
  ];
  const second = await own.write('second', seen, named('store'));
  expect(await startMigration(own.runtime, second, runOptions)).toMatchObject({ kind: 'held' });
  own.destination.overrule(undefined);

  const resumed = getReport(await resumeMigration(own.runtime, 'first', runOptions));
  expect(resumed.people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  await resumeMigration(own.runtime, 'second', runOptions);
  expect(own.takeSent().merges).toEqual(['lamp → samir']);
  const third = [{ user: 'tilda', device: 'lamp' }];
  await expect(own.run('third', third, named('store'))).rejects.toThrow('write "project: shop"');
  const { people } = await own.run('third', third, named('shop'));
  expect(people).toMatchObject({ pairs: 0, setAside: { contradicted_merge: 1 } });
  await removeMigration(own.runtime, 'second', { resolveLedger: () => expect.unreachable() });
  const last = await own.run('last', [{ user: 'ulla', device: 'lamp' }], named('shop'));
  expect(last.people).toMatchObject({ pairs: 0 });
  expect(own.takeSent().merges).toEqual([]);
});
