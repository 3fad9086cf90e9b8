import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/lib/errors.ts';
import { cancelMigration } from '../../src/migrations/control.ts';
import { takeLedgerLock } from '../../src/migrations/persons/lock/ledger-lock.ts';
import { listRejects } from '../../src/migrations/rejects/rejects.ts';
import { replayRejects } from '../../src/migrations/rejects/replay.ts';
import { type RemoveOptions, removeMigration } from '../../src/migrations/remove/remove-migration.ts';
import { sweepFinished } from '../../src/migrations/remove/sweep.ts';
import { loadReport } from '../../src/migrations/report.ts';
import { resolveLedger } from '../../src/migrations/resolve-destination.ts';
import { resumeMigration, startMigration } from '../../src/migrations/start.ts';
import { loadStatus } from '../../src/migrations/status/watch.ts';
import { migrationKey } from '../../src/state/checkpoints.ts';
import { loadControl } from '../../src/state/control.ts';
import { listLedgersOf } from '../../src/state/ledger/ledger.ts';
import { loadMigration } from '../../src/state/migrations.ts';
import { importing, line, type MigrationLab, openMigrationLab, stageOnly } from '../support/migration-lab.ts';
import { saveControl } from '../support/save-control.ts';

let lab: MigrationLab;
beforeAll(async () => {
  lab = await openMigrationLab();
});
afterAll(() => lab?.close());

const remove = (name: string, more: Partial<RemoveOptions> = {}, store = lab.runtime) =>
  removeMigration(store, name, {
    resolveLedger: (manifest) => resolveLedger(manifest, { env: lab.env, bundled: undefined }),
    ...more,
  });
const staged = () => join(lab.workplace.dataDir('here'), 'staging');
const listFiles = (below: string): string[] =>
  readdirSync(join(staged(), below), { recursive: true })
    .map(String)
    .filter((name) => statSync(join(staged(), below, name)).isFile())
    .sort();

/** A table of the ledger begins with its digest, which may begin with one of these bytes. */
const GZIP = Buffer.from([0x1f, 0x8b, 0x08]);

/** Every text below a folder of staging that names a person of the test. */
function findPersons(below: string, person: string): string[] {
  return listFiles(below).filter((name) => {
    const body = readFileSync(join(staged(), below, name));
    const text = body.subarray(0, 3).equals(GZIP) ? gunzipSync(body) : body;
    return text.includes(person);
  });
}

/** A migration whose records pair a device with a user; the last of three is rejected. */
async function writePairs(name: string) {
  const mapping = {
    event: { column: 'e' },
    distinctId: { column: 'u' },
    anonymousId: { column: 'd' },
    timestamp: { column: 't' },
    key: ['n'],
  };
  const source = { type: 'jsonl', from: `${name}/*.json`, mapping };
  const loaded = await lab.writeManifest(name, { source });
  const record = (n: number, t: string) =>
    JSON.stringify({ e: 'seen', u: `person-${name}`, d: `device-${name}`, t, n: `${name}-${n}` });
  lab.writeFile(name, 'a.json', [
    record(1, '2024-02-03T04:05:06Z'),
    record(2, '2024-02-03T04:05:07Z'),
    record(3, 'yesterday'),
  ]);
  return loaded;
}

async function finish(name: string) {
  const loaded = await writePairs(name);
  expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({ kind: 'finished' });
  return loaded;
}

describe('a migration that is removed', () => {
  it('keeps its report, and nothing that names a person', async () => {
    const loaded = await finish('gone');
    expect(findPersons('gone', 'person-gone')).not.toEqual([]);
    const before = await loadReport(lab.runtime, 'gone');
    expect(await remove('gone')).toEqual({});
    const kept = new Set(
      listFiles('gone').map((name) => name.replace(/^(control|receipts|reports)\/.*/, '$1')),
    );
    expect([...kept]).toEqual(['control', 'people/facts-removed.json', 'receipts', 'reports']);
    for (const person of ['person-gone', 'device-gone']) {
      expect(findPersons('gone', person)).toEqual([]);
      expect(findPersons('_ledgers', person)).toEqual([]);
    }
    expect(await loadReport(lab.runtime, 'gone')).toMatchObject({ counts: before.counts, balanced: true });
    expect(await loadStatus(lab.runtime, 'gone')).toMatchObject([{ state: 'removed' }]);
    await expect(listRejects(lab.runtime, 'gone')).rejects.toThrow('and its rejects with it');
    const refused = { kind: 'refused', refusal: 'removed' };
    expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject(refused);
    expect(await resumeMigration(lab.runtime, 'gone', importing())).toMatchObject(refused);
  });

  it('is removed once, and says when', async () => {
    await finish('once');
    await remove('once', { keepRejects: true });
    expect(await remove('once')).toEqual({}); // its rejects were left
    const at = (await loadControl(lab.runtime.staging, 'once'))?.at;
    const states = listFiles('once');
    expect(await remove('once')).toEqual({ removedAt: at });
    expect(listFiles('once')).toEqual(states);
  });

  it('is removed to the end after an interruption', async () => {
    await finish('halfway');
    const put = lab.runtime.staging.put;
    const cut: typeof lab.runtime = {
      ...lab.runtime,
      staging: {
        ...lab.runtime.staging,
        put: (key, body) =>
          key.includes('/reports/')
            ? Promise.reject(new Error('cut off'))
            : put.call(lab.runtime.staging, key, body),
      },
    };
    await expect(remove('halfway', {}, cut)).rejects.toThrow('cut off');
    expect(await remove('halfway')).toEqual({});
    expect(findPersons('halfway', 'person-halfway')).toEqual([]);
  });

  it('says of its rejects that its removal was interrupted, until that has ended', async () => {
    const loaded = await finish('half');
    const { staging } = lab.runtime;
    const cut: typeof lab.runtime = {
      ...lab.runtime,
      staging: {
        ...staging,
        get: (key) => staging.get(key),
        put: (key, body) => staging.put(key, body),
        remove: (key) =>
          key.includes('/rejects/') ? Promise.reject(new Error('cut off')) : staging.remove(key),
      },
    };
    await expect(remove('half', {}, cut)).rejects.toThrow('cut off');
    const unfinished =
      'the removal of migration "half" has not ended, and takes its rejects with it: finish it with "backhaul rm half"';
    await expect(listRejects(lab.runtime, 'half')).rejects.toThrow(unfinished);
    await expect(replayRejects(lab.runtime, 'half', { loaded }, importing())).rejects.toThrow(unfinished);
    await expect(remove('half', { keepRejects: true })).rejects.toThrow(unfinished);
    expect(await remove('half')).toEqual({});
    await expect(listRejects(lab.runtime, 'half')).rejects.toThrow('and its rejects with it');
  });

  it('keeps its rejects on request, to be shown and replayed', async () => {
    const loaded = await finish('picky');
    await remove('picky', { keepRejects: true });
    expect(findPersons('picky', 'device-picky').map((name) => name.split('/')[0])).toEqual(['rejects']);
    expect(await listRejects(lab.runtime, 'picky')).toMatchObject({
      reasons: [{ reason: 'bad_timestamp', count: 1, left: 1 }],
    });
    expect(await replayRejects(lab.runtime, 'picky', { loaded }, importing())).toMatchObject({
      migration: 'picky.replay-1',
      report: { counts: { read: 1 } },
    });
  });

  it('leaves nothing in Redis that does not expire', async () => {
    const loaded = await finish('expiring');
    const record = await loadMigration(lab.runtime.staging, 'expiring');
    const id = record?.id ?? 'none';
    await lab.redis.hset(`${migrationKey(id)}:part:abc/00000`, 'counter', 1); // of a holder that was killed
    await startMigration(lab.runtime, loaded, importing());
    const all = await lab.redis.keys('*');
    const own = all.filter((key) => key.includes(id) || key.includes('expiring'));
    for (const key of own) expect([key, (await lab.redis.pttl(key)) > 0]).toEqual([key, true]);
    await remove('expiring');
    expect(await lab.redis.keys(`*migration:${id}`)).toEqual([]);
  });

  it('has no epoch in force from before its objects are listed, so that who writes later finds it over', async () => {
    await finish('ending');
    const { id = '' } = (await loadMigration(lab.runtime.staging, 'ending')) ?? {};
    const known: (string | null)[] = [];
    const { staging } = lab.runtime;
    const list = async function* (prefix: string) {
      if (prefix === 'ending/') known.push(await lab.redis.hget(migrationKey(id), 'epoch'));
      yield* staging.list(prefix);
    };
    expect(await lab.redis.hget(migrationKey(id), 'epoch')).toBe('1');
    await remove('ending', {}, { ...lab.runtime, staging: { ...staging, list } });
    expect(known).not.toEqual([]);
    expect(known.filter((epoch) => epoch !== null)).toEqual([]);
  });

  it('is not removed while it runs, or was killed while it ran', async () => {
    const loaded = await writePairs('busy');
    await startMigration(lab.runtime, loaded, stageOnly(''));
    await saveControl(lab.runtime.staging, 'busy', { state: 'running', reason: '', at: '' });
    await expect(remove('busy')).rejects.toThrow('is running; wait for its end, or cancel it first');
    await cancelMigration(lab.runtime, 'busy', 'not wanted');
    await remove('busy');
    expect(listFiles('busy').filter((name) => name.startsWith('staged/'))).toEqual([]);
  });

  it('enters what it knows of identities into the ledger first, or is refused', async () => {
    const loaded = await writePairs('early');
    const stop = new AbortController();
    const onStatus = ({ phase }: { phase: string }) => phase === 'people' && stop.abort(new Error('enough'));
    await startMigration(lab.runtime, loaded, importing({ signal: stop.signal, onStatus }));
    const blind = () => {
      throw new ConfigError('KEY is not set');
    };
    await expect(remove('early', { resolveLedger: blind })).rejects.toThrow(
      'KEY is not set. The key tells which ledger',
    );
    expect(listFiles('early').filter((name) => name.startsWith('staged/'))).not.toEqual([]);
    expect(await loadStatus(lab.runtime, 'early')).not.toMatchObject([{ state: 'removed' }]);
    await remove('early');
    expect(findPersons('_ledgers', 'device-early')).toEqual([]);
    expect(listFiles('_ledgers').filter((name) => name.endsWith('known/early.json'))).toHaveLength(1);
  });

  it('is forgotten only while no other migration has a turn at its destination', async () => {
    await finish('turns');
    const [ledger = ''] = await listLedgersOf(lab.runtime.staging, 'turns');
    const listHashes = () => listFiles('_ledgers').filter((name) => /\/(ids|properties)\//.test(name));
    const before = listHashes();
    expect(before).not.toEqual([]);
    const objects = join(staged(), '_migrations/turns.json');
    await lab.runtime.askRedis(async (redis) => {
      const lock = await takeLedgerLock(ledger, {
        redis,
        migration: { id: 'sender', name: 'sender' },
        assertRunning: async () => {},
        onWait: () => {},
        signal: new AbortController().signal,
      });
      const refusal =
        'migration "sender" is about to send persons to the same destination; remove "turns" when';
      await expect(remove('turns', { forget: true })).rejects.toThrow(refusal);
      // The same where its own objects are gone, and only ledgers know it.
      const record = readFileSync(objects);
      rmSync(objects);
      await expect(remove('turns', { forget: true })).rejects.toThrow(refusal);
      writeFileSync(objects, record);
      expect(listHashes()).toEqual(before);
      await lock.release();
    });
    await remove('turns', { forget: true });
    expect(await loadMigration(lab.runtime.staging, 'turns')).toBeUndefined();
    expect(listHashes()).toEqual([]);
  });

  it('is forgotten with its report and the hashes of its destination, and its name is free', async () => {
    const loaded = await finish('forgotten');
    await remove('forgotten', { forget: true });
    expect(await loadMigration(lab.runtime.staging, 'forgotten')).toBeUndefined();
    expect(listFiles('_ledgers').filter((name) => /\/(ids|properties)\//.test(name))).toEqual([]);
    expect(await startMigration(lab.runtime, loaded, importing())).toMatchObject({
      kind: 'finished',
      report: { people: { pairs: 0, setAside: { ledger_forgotten: 1 } } },
    });
  });
});

describe('finished migrations', () => {
  it('are removed once they are as old as the setting says', async () => {
    await finish('old');
    const { at = '' } = (await loadControl(lab.runtime.staging, 'old')) ?? {};
    const daysAfter = (days: number) => new Date(Date.parse(at) + days * 24 * 3_600_000);
    const sweep = (days: number, staging = lab.runtime.staging, redisDays = days) =>
      sweepFinished(
        {
          ...lab.runtime,
          staging,
          now: () => daysAfter(days),
          askRedis: (ask) =>
            lab.runtime.askRedis((redis) => {
              const seconds = String(Math.floor(daysAfter(redisDays).getTime() / 1000));
              const time: typeof redis.time = async () => [Number(seconds), 0];
              return ask(Object.assign(Object.create(redis), { time }));
            }),
        },
        {
          afterDays: 30,
          resolveLedger: (manifest) => resolveLedger(manifest, { env: lab.env, bundled: undefined }),
          log: pino({ level: 'silent' }),
        },
      );
    expect(await sweep(29.99)).not.toContain('old');
    // A clock that is a year ahead of that of Redis removes nothing.
    expect(await sweep(365, lab.runtime.staging, 0)).toEqual([]);
    expect(await sweep(30, lab.runtime.staging, 29)).toEqual([]);
    // Another one is damaged, and holds none of them up.
    mkdirSync(join(staged(), 'damaged/control'), { recursive: true });
    writeFileSync(join(staged(), 'damaged/control/00000001.json'), '{');
    copyFileSync(join(staged(), '_migrations/old.json'), join(staged(), '_migrations/damaged.json'));
    // Nor does one that cannot be looked at for a reason that nobody foresaw.
    const { staging } = lab.runtime;
    const get: typeof staging.get = async (key, take) => {
      if (key.startsWith('damaged/')) throw new Error('unforeseen');
      return staging.get(key, take);
    };
    expect(await sweep(29.99, { ...staging, get })).toEqual([]);
    expect(await sweep(30)).toContain('old');
    rmSync(join(staged(), '_migrations/damaged.json'));
    expect(await loadStatus(lab.runtime, 'old')).toMatchObject([{ state: 'removed' }]);
  });
});

it('gives its name to a migration that believes no receipt of it, when a worker of it wakes up late', async () => {
  await finish('renewed');
  const [receipt = ''] = listFiles('renewed/receipts');
  const late = join(staged(), 'renewed/receipts', receipt);
  const body = readFileSync(late);
  await remove('renewed', { forget: true });

  const loaded = await lab.writeManifest('renewed');
  lab.writeFile('renewed', 'a.json', [line('renewed-new-1'), line('renewed-new-2'), line('renewed-new-3')]);
  await startMigration(lab.runtime, loaded, stageOnly('for now'));
  mkdirSync(dirname(late), { recursive: true });
  writeFileSync(late, body);
  expect(await resumeMigration(lab.runtime, 'renewed', importing())).toMatchObject({
    kind: 'finished',
    report: { balanced: true, counts: { read: 3, delivered: 3 } },
  });
  const arrived = [...lab.destination.events().values()].map(({ properties }) => properties['n']);
  expect(arrived).toEqual(expect.arrayContaining(['renewed-new-1', 'renewed-new-2', 'renewed-new-3']));
});
