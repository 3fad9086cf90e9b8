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

describe('what cannot be guessed', () => {
  it('is said in the manifest', async () => {
    const { manifest } = await init(write('days.csv', 'user_id,created_at\n7,01/02/2023\n'));
    expect(manifest).toContain('CHECK: the days of the sample fit "M/d/yyyy" as well');
    expect(manifest).toContain('CHECK: times carry no zone');
    expect(manifest).toContain('event: { constant: "days" }');
    expect(manifest).toContain('CHECK: nothing seems to name one event');
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
