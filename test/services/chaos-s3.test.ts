import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLab, LAB_TIMEOUT_MS, type Lab } from '../chaos/lab.ts';
import { atRandomMoments } from '../chaos/moments.ts';
import { producerKilled, redisWiped } from '../chaos/scenarios.ts';
import { killAllBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startRadosgw } from '../support/radosgw.ts';

/** With its parts on S3, too, a migration survives whatever dies. */
const s3 = ALL ? await startRadosgw() : undefined;
const bucket = 'backhaul-chaos';
await s3?.createBucket(bucket);
afterAll(() => s3?.stop());

describe.skipIf(!s3)('with parts on S3', () => {
  const round = randomUUID();
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab({
      destination: 'bundled',
      env: (name) => ({
        BACKHAUL_STAGING: `s3://${bucket}/${round}/${name}`,
        BACKHAUL_S3_ENDPOINT: s3?.endpoint ?? '',
        BACKHAUL_S3_ACCESS_KEY_ID: s3?.accessKeyId ?? '',
        BACKHAUL_S3_SECRET_ACCESS_KEY: s3?.secretAccessKey ?? '',
      }),
    });
  }, LAB_TIMEOUT_MS);
  afterEach(killAllBackhaul);
  afterAll(() => lab?.remove());

  atRandomMoments('the producer is killed', 's3-producer', () => lab, producerKilled);

  atRandomMoments('Redis is wiped', 's3-wiped', () => lab, redisWiped);

  it(
    'without permission for the bucket, says so before anything starts',
    async () => {
      const bench = await lab.open('forbidden');
      const ended = await bench.commandWith(
        { BACKHAUL_S3_SECRET_ACCESS_KEY: 'wrong' },
        'run',
        '--json',
        bench.manifest,
      );
      expect(ended.code, ended.stderr).toBe(2);
      expect(ended.stderr).toMatch(/access key/);
      expect(ended.stderr).not.toMatch(/bug in Backhaul/);
    },
    LAB_TIMEOUT_MS,
  );
});
