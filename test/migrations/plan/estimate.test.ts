import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { planMigration } from '../../../src/migrations/plan.ts';
import type { SourceBucket } from '../../../src/sources/files/s3-file.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';
import { writeZip } from '../../sources/formats/write-zip.ts';
import { createRandom } from '../../support/seeded-random.ts';
import { createWorkplace, type Workplace } from '../../support/workplace.ts';

/** The same records in five layouts: an estimate must not depend on how they are stored. */
const RECORDS = 40_000;
const FILES = 40;
const PAGES = ['/', '/pricing', '/docs/getting-started', '/blog/how-we-moved', '/checkout/payment'];

let workplace: Workplace;
let objects: Map<string, Buffer>;

beforeAll(() => {
  workplace = createWorkplace();
  const random = createRandom(7);
  const pick = (count: number) => Math.floor(random() * count);
  const lines = Array.from({ length: RECORDS }, (_, number) =>
    JSON.stringify({
      n: number,
      e: ['Page viewed', 'Button clicked', 'Order completed'][pick(3)],
      u: `user-${pick(3_000)}`,
      t: new Date(Date.UTC(2024, 0, 1) + number * 61_000 + pick(60_000)).toISOString(),
      page: PAGES[pick(PAGES.length)],
      session: Math.floor(random() * 2 ** 48).toString(16),
      text: 'x'.repeat(pick(120)),
    }),
  );
  const text = (from: number, to: number) => Buffer.from(`${lines.slice(from, to).join('\n')}\n`);
  const share = RECORDS / FILES;
  const many = Array.from({ length: FILES }, (_, file) => ({
    name: `${file}.json.gz`,
    body: gzipSync(text(file * share, (file + 1) * share)),
  }));
  const put = (folder: string, name: string, body: Buffer) => {
    mkdirSync(join(workplace.folder, folder), { recursive: true });
    writeFileSync(join(workplace.folder, folder, name), body);
  };
  put('plain', 'all.json', text(0, RECORDS));
  put('gzip', 'all.json.gz', gzipSync(text(0, RECORDS)));
  put('members', 'all.json.gz', Buffer.concat(many.map(({ body }) => body)));
  for (const { name, body } of many) put('many', name, body);
  put('zipped', 'export.zip', writeZip(many));
  put('deflated', 'export.zip', writeZip([{ name: 'all.json', body: text(0, RECORDS), deflate: true }]));
  objects = new Map([['export/all.json.gz', gzipSync(text(0, RECORDS))]]);
});
afterAll(() => workplace.remove());

const bucket: SourceBucket = {
  async *list(prefix) {
    for (const [key, body] of objects)
      if (key.startsWith(prefix)) yield { key, bytes: body.length, etag: 'v1' };
  },
  async *open(key, { start = 0, end } = {}) {
    const body = objects.get(key)?.subarray(start, end) ?? Buffer.alloc(0);
    for (let at = 0; at < body.length; at += 64 * 1024) yield body.subarray(at, at + 64 * 1024);
  },
};

it.each([
  ['plain', 'plain/*'],
  ['gzip', 'gzip/*'],
  ['gzip of many members', 'members/*'],
  ['many gzip files', 'many/*'],
  ['a zip of gzip members', 'zipped/*'],
  ['a zip of one deflated member', 'deflated/*'],
  ['gzip on S3', 's3://bucket/export/'],
])('the number of events is estimated within 10%% from a sample of %s', async (layout, from) => {
  const name = layout.toLowerCase().replaceAll(' ', '-');
  const mapping = {
    event: { column: 'e' },
    distinctId: { column: 'u' },
    timestamp: { column: 't' },
    key: ['n'],
  };
  const path = workplace.manifest({ name, source: { type: 'jsonl', from, mapping } });
  const context = {
    now: () => new Date('2025-01-01T00:00:00Z'),
    openStaging: async () => createFolderStaging(workplace.folder),
    openSourceBucket: async () => bucket,
  };
  const result = await planMigration(context, await loadManifest(path, { env: {} }), { recordsPerFile: 500 });
  const { records, events } = 'plan' in result ? result.plan : expect.unreachable();
  for (const { count } of [records, events]) {
    expect(count).toBeGreaterThan(RECORDS * 0.9);
    expect(count).toBeLessThan(RECORDS * 1.1);
  }
});
