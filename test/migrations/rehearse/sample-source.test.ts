import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { findFiles } from '../../../src/migrations/prepare/find-sources.ts';
import { toRehearsal } from '../../../src/migrations/rehearse/rehearsal-manifest.ts';
import { writeSample } from '../../../src/migrations/rehearse/sample-source.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'backhaul-sample-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const access = {
  now: () => new Date(),
  openSourceBucket: () => Promise.reject(new Error('no bucket is read')),
};
const mapping = { event: { column: 'e' }, distinctId: { column: 'u' }, timestamp: { column: 't' } };

async function sample(file: string, body: string | Buffer, records: number, source: object) {
  writeFileSync(join(folder, file), body);
  const manifest = manifestSchema.parse({ name: 'a', source: { from: file, mapping, ...source } });
  const slices = await findFiles(access, { manifest, baseDir: folder });
  const written = await writeSample(slices, join(folder, `sample-of-${file}`), records);
  const again = await findFiles(access, { manifest: toRehearsal(manifest, written.files), baseDir: '/' });
  const read: string[] = [];
  for (const slice of again)
    for await (const chunk of slice.readRecords())
      for (const record of chunk.records)
        if (record.kind === 'record') read.push(Buffer.from(record.bytes).toString());
  return { ...written, read, texts: written.files.map((path) => readFileSync(path, 'utf8')) };
}

describe('a sample', () => {
  it('is the first lines of a packed file', async () => {
    const lines = ['{"e":1}', 'broken', '{"e":3}', '{"e":4}'];
    const { read, records, files } = await sample('a b.json.gz', gzipSync(lines.join('\n')), 3, {
      type: 'jsonl',
    });
    expect(read).toEqual(lines.slice(0, 3));
    expect(records).toBe(3);
    expect(files.map((path) => basename(path))).toEqual(['00001-1-a_b.json']);
  });

  it('keeps records of several lines as they are', async () => {
    const documents = [{ e: 1, n: 1e21 }, { e: 2 }].map((each) => JSON.stringify(each, null, 2));
    const { read } = await sample('array.json', `[${documents.join(',')}]`, 5, { type: 'jsonl' });
    expect(read).toEqual(documents);
  });

  it('keeps the header of rows, and is UTF-8 whatever the source is', async () => {
    const body = Buffer.from('e;u;t\nM\xfcnchen;"a\nb";2024-01-01\nx;y;z\n', 'latin1');
    const { read, texts, records } = await sample('rows.csv', body, 1, {
      type: 'csv',
      delimiter: ';',
      encoding: 'windows-1252',
    });
    expect(records).toBe(1);
    expect(texts).toEqual(['e;u;t\nMünchen;"a\nb";2024-01-01\n']);
    expect(read).toEqual(['München;"a\nb";2024-01-01']);
  });
});
