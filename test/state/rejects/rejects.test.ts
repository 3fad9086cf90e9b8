import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { PartMeta, PartRecord } from '../../../src/contract/part.ts';
import type { RejectNote } from '../../../src/contract/progress.ts';
import { SourceError } from '../../../src/lib/errors.ts';
import { readRejects, saveRejects } from '../../../src/state/rejects/rejects.ts';
import { createFolderStaging } from '../../../src/state/staging/folder.ts';

const folder = await mkdtemp(join(tmpdir(), 'rejects-'));
const staging = createFolderStaging(folder);
afterAll(() => rm(folder, { recursive: true, force: true }));

const PART: PartMeta = {
  id: 'abc/00000',
  fileId: 'abc',
  file: 'export.csv',
  number: 0,
  format: { kind: 'csv', delimiter: ',' },
  records: 1,
  bytes: 0,
  sha256: '',
  etag: '',
  firstRecord: 0,
};

const recordOf = (bytes: Uint8Array, line = 1): PartRecord => ({
  kind: 'record',
  member: undefined,
  line,
  bytes,
});
const noteOf = (record: number): RejectNote => ({ record, reason: 'bad_field', detail: 'no such date' });

let segments = 0;
const put = (
  header: Uint8Array | undefined,
  records: readonly PartRecord[],
  notes = records.map((_, at) => noteOf(at)),
  part = PART,
) => {
  const key = `shop/rejects/abc/00000/1-1-${++segments}.ndjson.gz`;
  return saveRejects(staging, key, {
    part,
    header,
    records: { get: (at) => records[at] as PartRecord },
    notes,
  });
};

const bytesOf = ({ text, base64 }: { text?: string | undefined; base64?: string | undefined } = {}) =>
  base64 === undefined ? Buffer.from(text ?? '') : Buffer.from(base64, 'base64');

describe('a reject segment', () => {
  it('gives every byte back, and every character of what is said about it', async () => {
    // `unit: 'binary'` and loose UTF-16 units: half an emoji is what a shortened value may end in.
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
    );
    const anyBytes = fc.oneof(
      fc.uint8Array(),
      fc.string({ unit: 'binary' }).map((text) => new Uint8Array(Buffer.from(text))),
      fc.constant(new Uint8Array(Buffer.from('\ufeffa\u2028b\r\n,"c\u0000"'))),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.option(anyBytes, { nil: undefined }),
        fc.array(fc.record({ bytes: anyBytes, detail: anyText, member: anyText }), {
          minLength: 1,
          maxLength: 5,
        }),
        anyText,
        async (header, all, file) => {
          const records = all.map(({ bytes, member }): PartRecord => ({ ...recordOf(bytes), member }));
          const notes = all.map(({ detail }, at) => ({ ...noteOf(at), detail }));
          const read = await readRejects(staging, await put(header, records, notes, { ...PART, file }));
          expect(read.map((line) => [line.file, line.member, line.detail])).toEqual(
            all.map(({ member, detail }) => [file, member, detail]),
          );
          read.forEach((line, at) => {
            expect(bytesOf(line).equals(Buffer.from(all[at]?.bytes ?? []))).toBe(true);
            expect(line.header === undefined).toBe(header === undefined);
            if (header) expect(bytesOf(line.header).equals(Buffer.from(header))).toBe(true);
          });
        },
      ),
      { numRuns: 40 },
    );
  });

  it('holds a large header once, however many records were rejected under it', async () => {
    const header = Buffer.from(Array.from({ length: 4_000 }, (_, at) => `column_${at}`).join(','));
    const records = Array.from({ length: 8_000 }, (_, at) => recordOf(Buffer.from(`${at},x`), at + 2));
    const segment = await put(header, records);
    const { key } = segment;

    const text = gunzipSync((await staging.get(key)) ?? Buffer.alloc(0));
    expect(text.length).toBeLessThan(header.length + 8_000 * 300);
    const read = await readRejects(staging, segment);
    expect(read).toHaveLength(8_000);
    expect(new Set(read.map((line) => line.header)).size).toBe(1);
    expect(read.at(-1)).toMatchObject({ line: 8_001, text: '7999,x', header: { text: String(header) } });
  });

  it('is read where each line carries its header itself', async () => {
    const line = { file: 'a', line: 2, part: 'abc/00000', record: 0, reason: 'bad_field', detail: '' };
    const whole = { ...line, format: PART.format, header: { text: 'a,b' }, text: '1' };
    await staging.put('shop/rejects/abc/00000/each.ndjson.gz', gzipSync(`${JSON.stringify(whole)}\n`));
    expect(await readRejects(staging, { key: 'shop/rejects/abc/00000/each.ndjson.gz' })).toEqual([whole]);
  });

  it('that is gone or damaged is named, with what to do, and never passes for an empty one', async () => {
    const segment = await put(undefined, [recordOf(Buffer.from('1'))]);
    const { key } = segment;
    const whole = (await staging.get(key)) ?? Buffer.alloc(0);
    const faults = [
      whole.subarray(0, -9),
      Buffer.alloc(0),
      gzipSync('{"reason":'),
      gzipSync('{"header":{"text":"a"},"more":1}\n'),
    ];
    for (const damaged of faults) {
      await staging.put(key, damaged);
      await expect(readRejects(staging, segment)).rejects.toThrow(SourceError);
      await expect(readRejects(staging, segment)).rejects.toThrow(key);
    }
    await staging.remove(key);
    await expect(readRejects(staging, segment)).rejects.toThrow(SourceError);
    await expect(readRejects(staging, segment)).rejects.toThrow(
      `${key} are gone; restore it, or remove shop/receipts/abc/00000.json and resume`,
    );
  });
});
