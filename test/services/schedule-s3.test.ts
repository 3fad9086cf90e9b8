import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, describe, it } from 'vitest';
import { createS3Staging } from '../../src/state/staging/s3.ts';
import { createS3Bucket } from '../../src/state/staging/s3-bucket.ts';
import { killAllBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { expectCaughtUp } from '../support/missed-days.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

/** A schedule of a bucket, whose objects any machine can read. */
const KEY = 'phc_schedule_s3';
const BUCKET = 'backhaul-schedule';

const s3 = ALL ? await startRadosgw() : undefined;
await s3?.createBucket(BUCKET);
afterAll(() => s3?.stop());
afterEach(killAllBackhaul);

describe.skipIf(!s3)('with a source and staging on S3', () => {
  it('workers on machines of their own catch up the days on which none was there, once', async ({
    onTestFinished,
  }) => {
    const options = {
      bucket: BUCKET,
      endpoint: s3?.endpoint ?? '',
      accessKeyId: s3?.accessKeyId ?? '',
      secretAccessKey: s3?.secretAccessKey ?? '',
    };
    const workplace = createWorkplace();
    const redis = await startRedis();
    const destination = await startStrictDestination({ apiKey: KEY });
    onTestFinished(async () => {
      await killAllBackhaul();
      await Promise.all([destination.stop(), redis.stop()]);
      await workplace.remove();
    });
    const [prefix, exports] = [`staging-${randomUUID()}`, `exports-${randomUUID()}`];
    const bucket = createS3Bucket(options);
    await expectCaughtUp({
      workplace,
      env: {
        KEY,
        REDIS_URL: redis.url,
        BACKHAUL_STAGING: `s3://${BUCKET}/${prefix}`,
        BACKHAUL_S3_ENDPOINT: options.endpoint,
        BACKHAUL_S3_ACCESS_KEY_ID: options.accessKeyId,
        BACKHAUL_S3_SECRET_ACCESS_KEY: options.secretAccessKey,
      },
      dataDirOf: (process) => workplace.dataDir(process),
      staging: createS3Staging({ ...options, prefix }),
      destination,
      from: `s3://${BUCKET}/${exports}/`,
      write: (file, text) => bucket.put(`${exports}/${file}`, Buffer.from(text)),
    });
  }, 180_000);
});
