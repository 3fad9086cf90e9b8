import { describe, expect, it } from 'vitest';
import { SourceError } from '../../../src/lib/errors.ts';
import { createS3File, type SourceBucket } from '../../../src/sources/files/s3-file.ts';

const BODY = Buffer.from('0123456789');

/** Gives what there is of an object that was listed with all ten bytes. */
const bucketWith = (there: number): SourceBucket => ({
  async *list() {},
  async *open(_key, { start = 0, end = BODY.length }) {
    yield BODY.subarray(start, Math.min(end, there));
  },
});

const fileWith = (there: number) =>
  createS3File(bucketWith(there), 'a', { name: 's3://b/a', bytes: BODY.length, modified: 'v1' });

async function read(source: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of source) text += chunk.toString();
  return text;
}

describe('an object of a source', () => {
  it('is read whole, and in ranges', async () => {
    const file = fileWith(10);
    expect(await read(file.open())).toBe('0123456789');
    expect(await read(file.open({ start: 2, end: 5 }))).toBe('234');
    expect(String(await file.readAt(7, 3))).toBe('789');
  });

  it('that ends before its listed size is no shorter one', async () => {
    const file = fileWith(6);
    const ends = { name: 'SourceError', message: 's3://b/a ends at byte 6, before byte 10' };
    await expect(read(file.open())).rejects.toMatchObject(ends);
    await expect(read(file.open({ start: 2, end: 10 }))).rejects.toMatchObject(ends);
    await expect(file.readAt(4, 6)).rejects.toBeInstanceOf(SourceError);
    expect(await read(file.open({ start: 2, end: 5 }))).toBe('234');
  });
});
