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
