import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { createS3Staging } from '../../src/staging/s3.ts';
import { stagingContract } from '../contract/staging-contract.ts';
import { startRadosgw } from '../support/radosgw.ts';

const s3 = await startRadosgw();
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
});
