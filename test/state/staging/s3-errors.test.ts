import { S3ServiceException } from '@aws-sdk/client-s3';
import { expect, it } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import { toS3Error } from '../../../src/state/staging/s3-errors.ts';

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
