import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createS3Staging } from '../../src/state/staging/s3.ts';
import { ALL } from '../support/form.ts';
import { type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { expectOneOfTwo } from '../support/two-replays.ts';

/** Replays that two machines try at once, which share nothing but a bucket and Redis. */
const BUCKET = 'backhaul-replays';

const s3 = ALL ? await startRadosgw() : undefined;
await s3?.createBucket(BUCKET);
afterAll(() => s3?.stop());

describe.skipIf(!s3)('with staging on S3', () => {
  const options = {
    bucket: BUCKET,
    endpoint: s3?.endpoint ?? '',
    accessKeyId: s3?.accessKeyId ?? '',
    secretAccessKey: s3?.secretAccessKey ?? '',
    prefix: `staging-${randomUUID()}`,
  };
  let lab: MigrationLab;
  beforeAll(async () => {
    lab = await openMigrationLab({
      settings: {
        BACKHAUL_STAGING: `s3://${BUCKET}/${options.prefix}`,
        BACKHAUL_S3_ENDPOINT: options.endpoint,
        BACKHAUL_S3_ACCESS_KEY_ID: options.accessKeyId,
        BACKHAUL_S3_SECRET_ACCESS_KEY: options.secretAccessKey,
      },
    });
  });
  afterAll(() => lab?.close());

  it(
    'an attempt that sleeps through that of another machine changes nothing of it',
    () => expectOneOfTwo(lab, 'asleep', 'it writes of which records it is', createS3Staging(options)),
    300_000,
  );
});
