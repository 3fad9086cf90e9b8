import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConfigError, SourceError } from '../../../src/lib/errors.ts';
import type { RecordChunk } from '../../../src/sources/formats/read-records.ts';
import { bindSource, getSourceType } from '../../../src/sources/registry.ts';
import type { SourceContext } from '../../../src/sources/source.ts';

let baseDir: string;
beforeAll(async () => {
  baseDir = await mkdtemp(join(tmpdir(), 'backhaul-file-source-'));
  await writeFile(join(baseDir, 'rows.txt'), 'who;at\tx\n1;2\t3\n');
  await writeFile(join(baseDir, 'lines.json'), '{"a":1}\n{"a":2}\n');
});
afterAll(() => rm(baseDir, { recursive: true, force: true }));

const mapping = { event: { constant: 'x' }, distinctId: { column: 'who' }, timestamp: { column: 'at' } };
const bind = (type: string, options: object) =>
  bindSource(getSourceType(type).block.parse({ type, ...options }));

async function readFirst(type: string, options: object, context: SourceContext = { baseDir }) {
  const source = bind(type, options);
  const [slice] = await source.discover(context);
  if (!slice) throw new Error('nothing was found');
  const chunks: RecordChunk[] = [];
  const bytes: Buffer[] = [];
  for await (const chunk of source.open(slice, context, (read) => bytes.push(read))) chunks.push(chunk);
  return { slice, chunks, bytes: String(Buffer.concat(bytes)) };
}

describe('a source of files', () => {
  it('finds a file of this machine as a slice that only its producer can open', async () => {
    const { slice, chunks, bytes } = await readFirst('amplitude', { from: 'lines.json' });
    expect(slice).toMatchObject({ name: 'lines.json', bytes: 16, location: 'producer' });
    expect(slice.modified).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(chunks).toMatchObject([{ format: { kind: 'json' }, records: [{ line: 1 }, { line: 2 }] }]);
    expect(bytes).toBe('{"a":1}\n{"a":2}\n');
  });

  it('finds an object on S3 as a slice that every worker can open, of the version that was listed', async () => {
    const asked: object[] = [];
    const openS3 = async (bucket: string) => ({
      async *list(prefix: string) {
        yield { key: `${prefix}/1.json`, bytes: 8, etag: 'abc' };
      },
      async *open(key: string, range: object) {
        asked.push({ bucket, key, ...range });
        yield Buffer.from('{"a":1}\n');
      },
    });
    const { slice, chunks } = await readFirst('amplitude', { from: 's3://b/raw' }, { baseDir, openS3 });
    expect(slice).toMatchObject({ name: 's3://b/raw/1.json', bytes: 8, modified: 'abc', location: 'shared' });
    expect(chunks).toHaveLength(1);
    expect(asked.at(-1)).toEqual({ bucket: 'b', key: 'raw/1.json', etag: '"abc"' });
    await expect(
      bind('amplitude', { from: 'x' })
        .open(slice, { baseDir }, () => {})
        [Symbol.asyncIterator]()
        .next(),
    ).rejects.toThrow(ConfigError);
  });

  it('reads with the options of the manifest: of a CSV, its delimiter', async () => {
    const semicolons = await readFirst('csv', {
      from: 'rows.txt',
      delimiter: ';',
      mapping: { ...mapping, timestamp: { column: 'at\tx' } },
    });
    expect(semicolons.chunks).toMatchObject([{ format: { kind: 'csv', delimiter: ';' } }]);
    const tabs = { from: 'rows.txt', delimiter: 'tab', mapping };
    await expect(readFirst('csv', tabs)).rejects.toThrow(/rows\.txt: the header row has no column "who"/);
    await expect(readFirst('csv', tabs)).rejects.toThrow(SourceError);
  });

  it('checks headers where the manifest declares columns of a CSV, and nowhere else', () => {
    expect(bind('csv', { from: 'x', mapping }).checksHeaders).toBe(true);
    expect(bind('jsonl', { from: 'x', mapping }).checksHeaders).toBe(false);
    expect(bind('amplitude', { from: 'x' }).checksHeaders).toBe(false);
  });
});
