import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { loadManifest, parseManifest } from '../../../config/manifest/load-manifest.ts';
import { initManifest } from '../../../src/migrations/init/init.ts';
import { planMigration } from '../../../src/migrations/plan.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'backhaul-init-'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

const noBuckets = async () => {
  throw new Error('no bucket was expected');
};
const context = {
  openSourceBucket: noBuckets,
  now: () => new Date('2024-06-01T00:00:00Z'),
  openStaging: async () => createFolderStaging(join(cwd, 'staging')),
};
let number = 0;
function write(file: string, body: Buffer | string): string {
  number += 1;
  const from = `${number}/${file}`;
  mkdirSync(dirname(join(cwd, from)), { recursive: true });
  writeFileSync(join(cwd, from), body);
  return from;
}
const init = (from: string, out?: string) => initManifest(context, { from, out, cwd });
const golden = (path: string) => readFileSync(new URL(`../../golden/${path}`, import.meta.url));

/** Plans with what was written. */
async function plan(path: string) {
  const loaded = await loadManifest(path, { env: {}, needsKey: false });
  const planned = await planMigration(context, loaded, { recordsPerFile: 100 });
  if (planned.kind !== 'planned') throw new Error(planned.reason);
  return { manifest: loaded.manifest, planned };
}

const ROWS = 'kunde;aktion;zeit;betrag\n7;Käufer;31.12.2023 10:00:00;1,5\n8;Gast;13.01.2024 11:00:00;2\n';
const US = 'user_id,action,created_at\n7,a,12/31/2023 10:00\n8,b,01/13/2024 11:00\n';
const JSON_LINES =
  '{"user":{"id":"7"},"event":"a","ts":1682942400}\n{"user":{"id":"8"},"event":"b","ts":1682942401}\n';

describe('an export is recognised, and plans on the first try', () => {
  it.each<[string, string, Buffer | string, object]>([
    ['Amplitude', 'a.json', golden('amplitude/mobile-and-server/input.ndjson'), { type: 'amplitude' }],
    [
      'Amplitude in gzip',
      'a.json.gz',
      gzipSync(golden('amplitude/mobile-and-server/input.ndjson')),
      { type: 'amplitude' },
    ],
    ['Segment', 's.json', golden('segment/options/input.ndjson'), { type: 'segment' }],
    [
      'JSON lines',
      'j.ndjson',
      JSON_LINES,
      {
        type: 'jsonl',
        mapping: { timestamp: { column: 'ts', format: 'epoch_s' }, distinctId: { column: 'user.id' } },
      },
    ],
    ['a JSON array', 'j.json', `[${JSON_LINES.trim().replace('\n', ',')}]`, { type: 'jsonl' }],
    [
      'a CSV of Windows',
      'w.csv',
      Buffer.from(ROWS.replace('kunde', 'user_id'), 'latin1'),
      {
        type: 'csv',
        encoding: 'windows-1252',
        delimiter: ';',
        mapping: { timestamp: { column: 'zeit', format: 'dd.MM.yyyy HH:mm:ss' } },
      },
    ],
    [
      'UTF-16 with a mark',
      'u.csv',
      Buffer.from(`\ufeff${US}`, 'utf16le'),
      { type: 'csv', mapping: { timestamp: { column: 'created_at', format: 'M/d/yyyy HH:mm' } } },
    ],
    ['UTF-16 without a mark', 'v.csv', Buffer.from(US, 'utf16le'), { type: 'csv', encoding: 'utf-16le' }],
    [
      'UTF-16, high bytes first',
      'x.csv',
      Buffer.from(US, 'utf16le').swap16(),
      { type: 'csv', encoding: 'utf-16be' },
    ],
    ['TSV', 't.tsv', US.replaceAll(',', '\t'), { type: 'csv', delimiter: '\t' }],
    [
      'TSV whose header row has more commas',
      'c.tsv',
      'user_id\tevent\ttime\ta,b,c,d,e\n7\ta\t2023-01-01T00:00:00Z\t1\n',
      { type: 'csv', delimiter: '\t' },
    ],
    [
      'a table in German',
      'k.csv',
      ROWS,
      { mapping: { event: { column: 'aktion' }, distinctId: { column: 'kunde' } } },
    ],
    [
      'names with dots and variables',
      'n.csv',
      'user_id,event,time,${x}\n7,a,2023-01-01T00:00:00Z,1\n',
      { type: 'csv' },
    ],
  ])('%s', async (_what, file, body, source) => {
    const result = await init(write(file, body), `manifest-${number}.yaml`);
    const { manifest, planned } = await plan(result.path);
    expect(manifest.source).toMatchObject(source);
    expect(planned.refusal ?? planned.rejects).toBeUndefined();
    expect(result.sample.mapped + result.sample.rejected).toBeGreaterThan(0);
  });

  it('RudderStack and Segment are told apart', async () => {
    const call = (library: string) =>
      `${JSON.stringify({ type: 'track', event: 'a', messageId: 'm', userId: '7', originalTimestamp: '2023-01-01T00:00:00Z', context: { library: { name: library } } })}\n`;
    expect(await init(write('r.json', call('RudderLabs JavaScript SDK')))).toMatchObject({
      type: 'rudderstack',
    });
    expect(await init(write('q.json', call('analytics.js')))).toMatchObject({ type: 'segment' });
  });

  it('a folder, from the place of the manifest', async () => {
    write('folder/a.csv', US);
    writeFileSync(join(cwd, `${number}/folder/b.csv`), US.replaceAll('2023', '2022'));
    mkdirSync(join(cwd, 'manifests'));
    const result = await init(`${number}/folder`, 'manifests/shop.yaml');
    expect(result.files).toBe(2);
    expect((await plan(result.path)).planned.plan.files).toHaveLength(2);
  });
});

describe('a folder that holds more than the export', () => {
  const FOREIGN: Readonly<Record<string, string>> = {
    'README.md': '# An export\n',
    'notes.txt': 'one\ntwo\n',
    'users.json': '{"id":"7","plan":"pro"}\n',
  };
  const writeFolder = (files: Readonly<Record<string, string | Buffer>>): string => {
    number += 1;
    for (const [file, body] of Object.entries(files)) {
      mkdirSync(dirname(join(cwd, `${number}/export/${file}`)), { recursive: true });
      writeFileSync(join(cwd, `${number}/export/${file}`), body);
    }
    return `${number}/export`;
  };

  it('plans on the first try, and the manifest names what is left out', async () => {
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`2023/${at}.csv`, US]));
    const result = await init(writeFolder({ ...many, ...FOREIGN }), `folder-${number}.yaml`);
    expect(result).toMatchObject({ files: 30, sample: { rejected: 0 } });
    for (const name of Object.keys(FOREIGN)) expect(result.manifest).toContain(`${number}/export/${name}`);
    const { manifest, planned } = await plan(result.path);
    expect(manifest.source['from']).toEqual([`${number}/export/**/*.csv`]);
    expect(planned.plan.files).toHaveLength(30);
    expect(planned.plan.rejects).toEqual([]);
  });

  it('keeps every file where names tell nothing apart, or all fit', async () => {
    const packed = { 'a.json': JSON_LINES, 'b.json.gz': gzipSync(JSON_LINES) };
    expect(await init(writeFolder(packed), `folder-${number}.yaml`)).toMatchObject({ files: 2 });
    const bare = { 'a/part-0': JSON_LINES, 'a/part-1': '# nothing\n' };
    expect(await init(writeFolder(bare), `folder-${number}.yaml`)).toMatchObject({ files: 2 });
  });
});

describe('tables of numbers', () => {
  it('say which cells are numbers, and how they are written', async () => {
    const rows = [
      'Kunde;Aktion;Datum;Betrag;Menge;PLZ;Rabatt;Satz;Bestell_Nr',
      'k1;Kauf;01.02.2023 10:00;1.234,50;3;01069;5 %;1,234;17',
      'k2;Kauf;13.02.2023 10:00;7,00;12;80331;;2,500;18',
    ];
    const { path, manifest } = await init(write('kauf.csv', rows.join('\n')));
    expect(manifest).toContain(
      '# types: { "Betrag": { number: { decimal: ",", group: "." } }, "Menge": number }\n',
    );
    expect((await plan(path)).manifest.source).toMatchObject({
      mapping: { event: { column: 'Aktion' }, distinctId: { column: 'Kunde' } },
    });
    // As a reader would who takes the comment away.
    writeFileSync(path, manifest.replace('    # types:', '    types:'));
    const { planned } = await plan(path);
    expect(planned.plan.rejects).toEqual([]);
    expect(Object.fromEntries(planned.plan.pairs[0]?.event ?? [])).toMatchObject({
      Betrag: '1234.5',
      Menge: '3',
    });
  });
});

describe('what the destination knows under names of its own', () => {
  const guess = async (body: string, file = 'web.csv') =>
    (await plan((await init(write(file, body), `names-${number}.yaml`)).path)).manifest.source;

  it('is renamed, a column with values before one without, and countries by what they hold', async () => {
    const rows = [
      'user_id,event,time,page_url,mkt_source,context_campaign_source,dvce_type,geo_country,title',
      '7,page_view,2023-01-01T00:00:00Z,https://a.example/x,,mail,Mobile,AT,Tea',
      '7,Bought,2023-01-02T00:00:00Z,https://a.example/y,,mail,Mobile,DE,Tea',
    ];
    expect(await guess(rows.join('\n'))).toMatchObject({
      mapping: {
        event: { column: 'event' },
        values: { event: { page_view: '$pageview' } },
        rename: {
          page_url: '$current_url',
          context_campaign_source: 'utm_source',
          dvce_type: '$device_type',
          geo_country: '$geoip_country_code',
        },
      },
    });
    const names = rows.map((row) =>
      row.replace(',AT,', ',Austria,').replace(',DE,', ',Germany,').replace('mkt_source', 'utm_source'),
    );
    const source = await guess(names.join('\n'));
    expect(source).toMatchObject({ mapping: { rename: { geo_country: '$geoip_country_name' } } });
    expect(JSON.stringify(source)).not.toContain('context_campaign_source":"utm_source');
  });

  it('is the view of a page, in a table of pages alone', async () => {
    const rows = 'user_id,time,url\n7,2023-01-01T00:00:00Z,https://a.example/x\n';
    expect(await guess(rows, 'site_pages.csv')).toMatchObject({
      mapping: { event: { constant: '$pageview' } },
    });
    expect(await guess(rows, 'clicks.csv')).toMatchObject({ mapping: { event: { constant: 'clicks' } } });
  });

  it('is the name of the event, where another column says its kind', async () => {
    const rows = 'user_id,event,event_name,time\n7,unstruct,sign_up,2023-01-01T00:00:00Z\n';
    expect(await guess(rows)).toMatchObject({ mapping: { event: { column: 'event_name' } } });
    expect(await guess(rows.replace('sign_up', ''))).toMatchObject({
      mapping: { event: { column: 'event' } },
    });
  });

  it('is in an object of properties, which is spread', async () => {
    const rows =
      'user_id,event,time,properties\n7,a,2023-01-01T00:00:00Z,"{""url"":""https://a.example""}"\n';
    expect(await guess(rows)).toMatchObject({
      mapping: { spreadColumns: ['properties'], jsonColumns: ['properties'] },
    });
    expect(await guess(rows.replace('{""url"":""https://a.example""}', '[1]'))).toMatchObject({
      mapping: { spreadColumns: [] },
    });
  });

  it('is in an object of properties that also says who and when, as Mixpanel exports it', async () => {
    const lines = ['Sign up', '$mp_web_page_view'].map((event, at) => {
      const place = { mp_country_code: 'DE', $city: 'Berlin', $os: 'Mac OS X' };
      const properties = {
        time: 1_682_935_200 + at,
        distinct_id: `u-${at}`,
        $insert_id: `i-${at}`,
        ...place,
      };
      return `${JSON.stringify({ event, properties })}\n`;
    });
    expect(await guess(lines.join(''), 'mixpanel.json')).toMatchObject({
      mapping: {
        distinctId: { column: 'properties.distinct_id' },
        timestamp: { column: 'properties.time', format: 'epoch_s' },
        spreadColumns: ['properties'],
        values: { event: { $mp_web_page_view: '$pageview' } },
        rename: {
          'properties.mp_country_code': '$geoip_country_code',
          'properties.$city': '$geoip_city_name',
        },
      },
    });
    // What stands beside the properties goes before what stands in them.
    const beside = lines.map((line) => line.replace('{"event"', '{"user_id":"7","ts":1682935300,"event"'));
    expect(await guess(beside.join(''), 'beside.json')).toMatchObject({
      mapping: { distinctId: { column: 'user_id' }, timestamp: { column: 'ts' } },
    });
  });

  it('keeps the column of names where some are too long to be sent', async () => {
    const rows = ['a', 'b', 'x'.repeat(201)].map((name) => `7,${name},2023-01-01T00:00:00Z\n`);
    const written = await init(
      write('long.csv', `user_id,event,time\n${rows.join('')}`),
      `long-${number}.yaml`,
    );
    expect(written.manifest).toContain('event: { column: "event" }');
    expect(written.sample).toMatchObject({ mapped: 2, rejected: 1 });
  });
});

describe('what cannot be guessed', () => {
  it('is said in the manifest', async () => {
    const { manifest } = await init(write('days.csv', 'user_id,created_at\n7,01/02/2023\n'));
    expect(manifest).toContain('CHECK: the days of the sample fit "M/d/yyyy" as well');
    expect(manifest).toContain('CHECK: times carry no zone');
    expect(manifest).toContain('event: { constant: "days" }');
    expect(manifest).toContain('CHECK: nothing seems to name one event');
  });

  const ZONED = '2023-11-05T00:00:00.000Z';
  it.each([
    [
      'epoch',
      '1699142400',
      [/# The zone of timestamps that carry none/, /CHECK: 2 of 100 times .* have another form/],
    ],
    ['local', '2023-11-05 00:00:00', [/CHECK: 2 of 100 times .* carry no zone/]],
  ])('is said of the times that differ: %s', async (kind, other, said) => {
    const rows = Array.from({ length: 100 }, (_, row) => `${row},a,${row < 98 ? ZONED : other}`);
    const { manifest } = await init(write(`${kind}.csv`, ['user_id,action,time', ...rows, ''].join('\n')));
    for (const text of said) expect(manifest).toMatch(text);
    expect(manifest.match(/CHECK: [^\n]* times? /g)).toHaveLength(1);
    expect(manifest).not.toContain('CHECK: times carry no zone');
  });

  it.each([
    ['empty.csv', '', /cannot be read as JSON or as a table/],
    ['header.csv', 'user_id,created_at\n', /holds no records/],
    ['broken.json', '{"a":\n{"b"\n', /cannot be read/],
    [
      'noise.bin',
      Buffer.from(Array.from({ length: 600 }, (_, at) => (at * 7919 + 13) % 256)),
      /cannot be read|No manifest/,
    ],
    ['parquet', 'PAR1....PAR1', /Parquet/],
    ['half.json.gz', gzipSync(JSON_LINES).subarray(0, 20), /cannot be read/],
    [
      'bare.csv',
      '7,Bought,2023-05-01 10:00:00\n8,Sold,2023-05-02 10:00:00\n',
      /its first line holds "2023-05-01 10:00:00"/,
    ],
    // No header, and of its empty cells at the end a row may have more.
    [
      'uneven.tsv',
      'web\t2021-10-15 09:05:41\t1\nweb\t2021-10-15 09:06:41\t2\t3\n',
      /put a line with the names of the columns/,
    ],
    ['people.csv', 'user_id,name\n7,ann\n', /no column holds times.*"user_id", "name"/],
    ['times.csv', 'created_at,price\n2023-01-01,5\n', /no column holds the id of a person/],
  ])('%s is refused, and says why', async (file, body, message) => {
    await expect(init(write(file, body))).rejects.toThrow(message);
  });

  it('a manifest that exists is not replaced', async () => {
    const from = write('kept.csv', US);
    writeFileSync(join(cwd, 'kept.yaml'), 'mine');
    await expect(init(from)).rejects.toThrow(
      /kept.yaml exists, and is not replaced; name another file with --out/,
    );
    expect(readFileSync(join(cwd, 'kept.yaml'), 'utf8')).toBe('mine');
  });
});

test('data in place of a manifest, and an unknown vendor, lead to init', async () => {
  const load = (path: string) => loadManifest(path, { env: {} });
  const csv = join(cwd, write('given.csv', US));
  const json = join(cwd, write('given.json', JSON_LINES));
  const led = (path: string) =>
    `${path} is data and no manifest; write one for it with: backhaul init ${path}`;
  await expect(load(csv)).rejects.toThrow(led(csv));
  await expect(load(json)).rejects.toThrow(led(json));
  await expect(load(cwd)).rejects.toThrow(`backhaul init ${cwd}`);
  await expect(load('s3://bucket/exports')).rejects.toThrow('backhaul init s3://bucket/exports');
  const manifest = '{"name": "a", "source": {"type": "heap", "from": "x"}}';
  expect(() => parseManifest(manifest, 'm.json', { env: {} })).toThrow(/not "heap".*backhaul init/s);
});
