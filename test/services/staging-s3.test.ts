import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError, SourceError } from '../../src/lib/errors.ts';
import { stageSlice } from '../../src/pipeline/stage/stage-slice.ts';
import { bindSource } from '../../src/sources/registry.ts';
import { toSourceSlice } from '../../src/sources/source.ts';
import { listParts, loadPart } from '../../src/state/parts.ts';
import { createS3Staging } from '../../src/state/staging/s3.ts';
import { createS3Bucket } from '../../src/state/staging/s3-bucket.ts';
import { writeZip } from '../sources/formats/write-zip.ts';
import { stagingContract } from '../state/staging/staging-contract.ts';
import { ALL } from '../support/form.ts';
import { startRadosgw } from '../support/radosgw.ts';

const s3 = ALL ? await startRadosgw() : undefined;
const bucket = 'backhaul-test';
await s3?.createBucket(bucket);
afterAll(() => s3?.stop());

describe.skipIf(!s3)('with a real S3 server', () => {
  const options = (prefix: string) => ({
    bucket,
    prefix,
    endpoint: s3?.endpoint ?? '',
    accessKeyId: s3?.accessKeyId ?? '',
    secretAccessKey: s3?.secretAccessKey ?? '',
  });

  stagingContract('a bucket', async () => createS3Staging(options(`contract/${randomUUID()}`)));

  it('keeps two prefixes apart, and takes the bucket itself as one', async () => {
    const one = createS3Staging(options('apart/one/'));
    const two = createS3Staging(options('/apart/two'));
    const all = createS3Staging(options(''));
    await one.put('a', Buffer.from('1'));
    expect(await two.get('a')).toBeUndefined();
    expect(String(await all.get('apart/one/a'))).toBe('1');
  });

  it('tells a bucket that is not there', async () => {
    const staging = createS3Staging({ ...options('x'), bucket: 'no-such-bucket' });
    for (const attempt of [() => staging.put('a', Buffer.from('1')), () => staging.get('a')]) {
      const failure = await attempt().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ConfigError);
      expect(String(failure)).toMatch(/no-such-bucket.*create the bucket/);
    }
  });

  it('tells a wrong key and a wrong secret', async () => {
    for (const wrong of [{ accessKeyId: 'nobody' }, { secretAccessKey: 'wrong' }]) {
      const attempt = createS3Staging({ ...options('x'), ...wrong }).put('a', Buffer.from('1'));
      await expect(attempt).rejects.toThrow(ConfigError);
      await expect(attempt).rejects.toThrow(/access key/);
    }
  });

  it('is a source, too: finds objects by prefix, reads a zip by ranges, and stages into itself', async () => {
    const exports = createS3Staging(options('exports'));
    const gz = (hour: number) => ({
      name: `1/1_2024-01-01_${hour}#0.json.gz`,
      body: gzipSync(`{"hour":${hour},"id":12345678901234567890}\n`.repeat(50_000)),
      deflate: true,
    });
    await exports.put('a/day.zip', writeZip([gz(10), gz(9)]));
    await exports.put('a/h_10.json', Buffer.from('{"late":1}\n'));
    await exports.put('a/h_9.json', Buffer.from('{"late":0}\n'));
    const openS3 = async (name: string) => createS3Bucket({ ...options(''), bucket: name });
    const context = { baseDir: '/', openS3 };
    const toSource = (from: string) => bindSource({ type: 'amplitude', timezone: 'UTC', from: [from] });
    const discover = async (from: string) =>
      (await toSource(from).discover(context)).map((slice) => toSourceSlice(slice, toSource(from), context));
    const files = await discover(`s3://${bucket}/exports/a/`);
    expect(files.map(({ location }) => location)).toEqual(['shared', 'shared', 'shared']);
    expect(files.map(({ name }) => name)).toEqual(
      ['day.zip', 'h_9.json', 'h_10.json'].map((name) => `s3://${bucket}/exports/a/${name}`),
    );

    const staging = createS3Staging(options('staged'));
    const [zip, plain] = files;
    if (!zip || !plain) throw new Error('not found');
    const signal = new AbortController().signal;
    const receipt = await stageSlice({ slice: zip, staging, prefix: 'm/', signal });
    expect(receipt).toMatchObject({ records: 100_000, parts: 5 });
    const counts = new Map<string | undefined, number>();
    for await (const part of listParts(staging, 'm/')) {
      for (const { member } of await loadPart(staging, 'm/', part)) {
        counts.set(member, (counts.get(member) ?? 0) + 1);
      }
    }
    expect([...counts]).toEqual([9, 10].map((hour) => [`1/1_2024-01-01_${hour}#0.json.gz`, 50_000]));

    await exports.put('a/h_9.json', Buffer.from('{"late":2}\n'));
    await expect(stageSlice({ slice: plain, staging, prefix: 'm/', signal })).rejects.toThrow(
      /the object changed/,
    );
    await exports.remove('a/h_9.json');
    await expect(stageSlice({ slice: plain, staging, prefix: 'm/', signal })).rejects.toThrow(SourceError);
    await expect(discover(`s3://${bucket}/none/`)).rejects.toThrow(/matches no object/);
    await expect(discover('s3://no-such-bucket/x')).rejects.toThrow(/create the bucket/);
  });
});
