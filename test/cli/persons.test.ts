import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it, type TestContext } from 'vitest';
import { killAllBackhaul, parseReport, runBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

afterEach(killAllBackhaul);

const API_KEY = 'phc_persons';

interface Manifest {
  /** Added to the mapping of the time. */
  readonly timestamp?: object;
  readonly persons?: 'hold';
  readonly people?: object;
}

async function createBench({ onTestFinished }: TestContext) {
  const workplace = createWorkplace();
  onTestFinished(() => workplace.remove());
  const destination = await startStrictDestination({ apiKey: API_KEY });
  onTestFinished(() => destination.stop());
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const options = { dataDir: workplace.dataDir('cli'), env: { KEY: API_KEY, REDIS_URL: redis.url } };
  const addFile = (file: string, records: readonly object[]) => {
    const lines = records.map((record) => JSON.stringify({ e: 'seen', device: 'tablet-1', ...record }));
    writeFileSync(join(workplace.folder, `${file}.ndjson`), `${lines.join('\n')}\n`);
  };
  const write = (name: string, records: readonly object[], { timestamp = {}, ...more }: Manifest = {}) => {
    addFile(name, records);
    return workplace.manifest({
      name,
      source: {
        type: 'jsonl',
        from: `${name}*.ndjson`,
        timezone: 'UTC',
        mapping: {
          event: { column: 'e' },
          distinctId: { column: ['user', 'device'] },
          anonymousId: { column: 'device' },
          timestamp: { column: 't', ...timestamp },
          person: { set: { columns: ['plan'] } },
        },
      },
      destination: { url: destination.url, apiKey: '${KEY}' },
      rejects: { failAbove: '90%' },
      ...more,
    });
  };
  return {
    destination,
    write,
    addFile,
    command: (...args: string[]) => runBackhaul(args, options),
    /** Merges, and properties that replace live ones. */
    persons: () =>
      [...destination.events().values()]
        .filter(({ event }) => event === '$identify')
        .map(({ distinctId, properties: { $anon_distinct_id: merged, $set } }) => ({
          distinctId,
          merged,
          $set,
        })),
  };
}

it('an export that was split by year and held merges no device that two years share', async (context) => {
  const { destination, write, command, persons } = await createBench(context);
  const manifests = [
    write('2021', [{ user: 'alice', t: '2021-03-01' }], { persons: 'hold' }),
    write('2022', [{ user: 'bob', t: '2022-03-01' }], { persons: 'hold' }),
  ];
  for (const manifest of manifests) {
    const ended = await command('run', manifest);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout).toContain('Held: nothing about persons and groups was sent.');
  }
  const sent = await command('persons', 'send', destination.url, '--json');
  expect(sent.code, sent.stderr).toBe(0);
  expect(sent.stderr).toContain('Sending the persons of 2021, 2022 as migration 2021.persons-1.');
  expect(parseReport(sent).people).toMatchObject({ pairs: 0, setAside: { shared_device: 1 } });
  expect(persons()).toEqual([]);

  const again = await command('persons', 'send', manifests[0] ?? '');
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toContain('No migration holds persons for');
  const named = await command('persons', 'send', '2021');
  expect(named.code, named.stderr).toBe(0);
  expect(named.stderr).toContain('there is nothing to send');
}, 120_000);

it('a replay merges no device that is known as shared, and rolls no property back', async (context) => {
  const { write, command, persons } = await createBench(context);
  const overwrite = { people: { overwrite: true } };
  const records = [
    { user: 'alice', t: '2022-03-01', plan: 'new' },
    { user: 'bob', t: '2022-03-02' },
    { user: 'alice', t: '05/03/2021', plan: 'old' },
  ];
  const ended = await command('run', '--json', write('shop', records, overwrite));
  expect(ended.code, ended.stderr).toBe(0);
  expect(parseReport(ended)).toMatchObject({
    byReason: { bad_timestamp: 1 },
    people: { setAside: { shared_device: 1 } },
  });
  const sent = [{ distinctId: 'alice', merged: undefined, $set: { plan: 'new' } }];
  expect(persons()).toEqual(sent);

  const repaired = write('shop', records, { ...overwrite, timestamp: { format: 'dd/MM/yyyy' } });
  const replayed = await command('rejects', 'replay', 'shop', '--manifest', repaired, '--json');
  expect(replayed.code, replayed.stderr).toBe(0);
  expect(parseReport(replayed).counts).toMatchObject({ read: 1, delivered: 1 });
  expect(persons()).toEqual(sent);
}, 120_000);

it('sends what the destination refused or a top-up added, and merges no known user', async (context) => {
  const { destination, write, addFile, command, persons } = await createBench(context);
  const listMerges = () =>
    persons()
      .map(({ distinctId, merged }) => `${String(merged)} → ${distinctId}`)
      .sort();
  const t = '2021-03-01';
  const bobAndAlice = [
    { user: 'bob', device: 'alice', t },
    { user: 'alice', device: undefined, t },
  ];
  const toPair = (n: number) => ({ user: `u${n}`, device: `a${n}`, t });
  const manifest = write('a', [...bobAndAlice, toPair(1), toPair(2)]);
  destination.overrule((_, text) =>
    text.includes('"$identify"') && text.includes('"u1"')
      ? { status: 400, body: '{"detail":"not now"}' }
      : undefined,
  );
  const refused = await command('run', manifest);
  expect(refused.code, refused.stderr).toBe(1);
  expect(`${refused.stdout}${refused.stderr}`).toContain('the destination refused 1 event about persons');
  expect(listMerges()).toEqual(['a2 → u2']);
  destination.overrule(undefined);
  const resumed = await command('resume', 'a', '--json');
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(parseReport(resumed).people).toMatchObject({ pairs: 2, setAside: { already_identified: 1 } });
  expect(listMerges()).toEqual(['a1 → u1', 'a2 → u2']);

  addFile('a-2', [toPair(3)]);
  addFile('a-3', [toPair(4)]);
  destination.overrule((_, text) =>
    text.includes('"u4"') ? { status: 401, body: '{"detail":"no"}' } : undefined,
  );
  expect((await command('run', manifest, '--top-up')).code).not.toBe(0);
  destination.overrule(undefined);
  expect((await command('run', write('b', [toPair(5)]))).code).toBe(0);
  expect((await command('resume', 'a')).code).toBe(0);
  expect(listMerges()).toEqual(['a1 → u1', 'a2 → u2', 'a3 → u3', 'a4 → u4', 'a5 → u5']);
}, 120_000);

// The short form: test/migrations/persons/refused-persons.test.ts.
it.runIf(ALL)(
  'a merge that was refused, and accepted as such, is made by a later migration',
  async (context) => {
    const { destination, write, command, persons } = await createBench(context);
    const t = '2021-03-01';
    destination.overrule((_, text) =>
      text.includes('"$identify"') ? { status: 400, body: '{"detail":"no"}' } : undefined,
    );
    expect((await command('run', write('first', [{ user: 'alice', t }]))).code).toBe(1);
    const accepted = await command('resume', 'first', '--accept-refusals');
    expect(accepted.code, accepted.stderr).toBe(3);
    destination.overrule(undefined);
    expect(persons()).toEqual([]);
    const ended = await command('run', write('second', [{ user: 'alice', t }]));
    expect(ended.code, ended.stderr).toBe(0);
    expect(persons()).toEqual([{ distinctId: 'alice', merged: 'tablet-1', $set: undefined }]);
  },
  120_000,
);
