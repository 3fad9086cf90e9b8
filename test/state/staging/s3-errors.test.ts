import { S3ServiceException } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { ConfigError, UnavailableError } from '../../../src/lib/errors.ts';
import { createS3Bucket } from '../../../src/state/staging/s3-bucket.ts';
import { toS3Error } from '../../../src/state/staging/s3-errors.ts';
import { startSelfSigned } from '../../support/self-signed.ts';

it('names the settings where no region is known', () => {
  const error = toS3Error(new Error('Region is missing'), {
    bucket: 'exports',
    endpoint: undefined,
    doing: 'list raw/',
  });
  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({ message: expect.stringContaining('set BACKHAUL_S3_REGION or AWS_REGION') });
});

it('tells a quota that is used up from a right that is missing', () => {
  const toMessage = (name: string) =>
    toS3Error(
      new S3ServiceException({ name, $fault: 'client', $metadata: { httpStatusCode: 403 }, message: name }),
      { bucket: 'exports', endpoint: undefined, doing: 'write a' },
    );
  expect(String(toMessage('QuotaExceeded'))).toContain(
    's3://exports is full (could not write a: QuotaExceeded): raise its quota',
  );
  expect(String(toMessage('AccessDenied'))).toContain(
    'refuses this access key (could not write a): grant it',
  );
});

it('waits for a server whose certificate is not accepted, and says what to do about it', async () => {
  const { url, stop } = await startSelfSigned();
  try {
    const options = { bucket: 'exports', endpoint: url, accessKeyId: 'id', secretAccessKey: 'secret' };
    const writing = createS3Bucket({ ...options, outageMs: 0 }).put('a', Buffer.from('b'));
    await expect(writing).rejects.toThrow(UnavailableError);
    await expect(writing).rejects.toThrow(
      `s3://exports at ${url} does not respond (could not write a: the certificate of ${url} is of no authority that Node.js trusts (DEPTH_ZERO_SELF_SIGNED_CERT): set NODE_EXTRA_CA_CERTS`,
    );
  } finally {
    await stop();
  }
});
