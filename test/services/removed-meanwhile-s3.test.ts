import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { ALL } from '../support/form.ts';
import { type MigrationLab, openMigrationLab } from '../support/migration-lab.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { expectNothingOfRemoved, STAGING_STEPS } from '../support/removed-meanwhile.ts';

const BUCKET = 'backhaul-removed';
const s3 = ALL ? await startRadosgw() : undefined;
await s3?.createBucket(BUCKET);
afterAll(() => s3?.stop());

describe.skipIf(!s3)('with staging on S3, a producer that wakes after its migration was removed', () => {
  let lab: MigrationLab;
  beforeAll(async () => {
    lab = await openMigrationLab({
      settings: {
        BACKHAUL_STAGING: `s3://${BUCKET}/${randomUUID()}`,
        BACKHAUL_S3_ENDPOINT: s3?.endpoint ?? '',
        BACKHAUL_S3_ACCESS_KEY_ID: s3?.accessKeyId ?? '',
        BACKHAUL_S3_SECRET_ACCESS_KEY: s3?.secretAccessKey ?? '',
      },
    });
  });
  afterAll(() => lab?.close());

  it.each(Object.entries(STAGING_STEPS))('leaves nothing, where it slept before %s', (where, step) =>
    expectNothingOfRemoved(lab, where.replaceAll(' ', '-'), step),
  );
});
