import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createS3Bucket } from '../../src/state/staging/s3-bucket.ts';
import { killAllBackhaul, runBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { createWorkplace } from '../support/workplace.ts';

/** `backhaul init` on data in each place where it may be, and a plan with what it wrote. */
const TIMEOUT_MS = 60_000;
const BUCKET = 'backhaul-init';
const s3 = ALL ? await startRadosgw() : undefined;
await s3?.createBucket(BUCKET);
afterAll(() => s3?.stop());
afterEach(killAllBackhaul);

const ROWS =
  'user_id,action,created_at,price\n7,Bought,2023-05-01 10:00:00,1\n8,Sold,2023-05-02 10:00:00,2\n';
const CALLS = ['track', 'identify']
  .map((type) => {
    const call = { type, event: 'Saved', userId: 'u-1', anonymousId: 'a-1', messageId: `m-${type}` };
    return `${JSON.stringify({ ...call, timestamp: '2023-05-01T10:00:00Z', traits: { plan: 'pro' } })}\n`;
  })
  .join('');

const s3Options = {
  endpoint: s3?.endpoint ?? '',
  accessKeyId: s3?.accessKeyId ?? '',
  secretAccessKey: s3?.secretAccessKey ?? '',
};

/** Runs `init` of what `from` says, then `plan` of what it names as next. */
async function initAndPlan(from: string, prepare: (folder: string) => Promise<void> | void) {
  const workplace = createWorkplace();
  try {
    await prepare(workplace.folder);
    const out = join(workplace.folder, 'written.yaml');
    const data = from.startsWith('s3://') ? from : join(workplace.folder, from);
    const backhaul = (...args: string[]) =>
      runBackhaul(args, {
        dataDir: workplace.dataDir('embedded'),
        env: s3
          ? {
              BACKHAUL_S3_ENDPOINT: s3Options.endpoint,
              BACKHAUL_S3_ACCESS_KEY_ID: s3Options.accessKeyId,
              BACKHAUL_S3_SECRET_ACCESS_KEY: s3Options.secretAccessKey,
            }
          : {},
      });
    // Whoever gives data in place of a manifest is led here.
    const led = await backhaul('plan', data);
    const inited = await backhaul('init', data, '--out', out);
    const planned = await backhaul('plan', '--json', out);
    const again = await backhaul('init', data, '--out', out);
    return { data, led, inited, planned, again, manifest: readFileSync(out, 'utf8') };
  } finally {
    await workplace.remove();
  }
}

const CASES: readonly [string, string, (folder: string) => Promise<void> | void, string, object][] = [
  [
    'a file',
    'sales.csv',
    (folder) => writeFileSync(join(folder, 'sales.csv'), ROWS),
    'csv',
    { files: [{ records: 2 }], eventsByName: [{ event: 'Bought' }, { event: 'Sold' }] },
  ],
  [
    'a folder',
    'archive',
    (folder) => {
      mkdirSync(join(folder, 'archive/2023'), { recursive: true });
      writeFileSync(join(folder, 'archive/a.json'), CALLS);
      writeFileSync(join(folder, 'archive/2023/b.json'), CALLS.replaceAll('m-', 'n-'));
    },
    'segment',
    { files: [{ records: 2 }, { records: 2 }], skips: [{ reason: 'feeds_people' }] },
  ],
];

it.each(CASES)(
  'init of %s writes what plans',
  async (_, from, prepare, type, plan) => {
    const { data, led, inited, planned, again, manifest } = await initAndPlan(from, prepare);
    expect(led.code).toBe(2);
    expect(led.stderr).toContain(`backhaul init ${data}`);
    expect(inited.code, inited.stderr).toBe(0);
    expect(manifest).toContain(`type: ${type}`);
    expect(planned.code, planned.stderr).toBe(0);
    expect(JSON.parse(planned.stdout)).toMatchObject({ ...plan, rejects: [] });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('is not replaced') });
  },
  TIMEOUT_MS,
);

describe.skipIf(!s3)('on S3', () => {
  it(
    'init of a prefix writes what plans',
    async () => {
      const bucket = createS3Bucket({ ...s3Options, bucket: BUCKET });
      const put = async () => {
        await bucket.put('raw/1.csv', Buffer.from(ROWS));
        await bucket.put('raw/2.csv', Buffer.from(ROWS.replaceAll('2023', '2022')));
      };
      const { led, inited, planned, manifest } = await initAndPlan(`s3://${BUCKET}/raw`, put);
      expect(led.stderr).toContain(`backhaul init s3://${BUCKET}/raw`);
      expect(inited.code, inited.stderr).toBe(0);
      expect(manifest).toContain(`s3://${BUCKET}/raw`);
      expect(planned.code, planned.stderr).toBe(0);
      expect(JSON.parse(planned.stdout)).toMatchObject({ files: [{ records: 2 }, { records: 2 }] });
    },
    TIMEOUT_MS,
  );
});

it('init of a table without a header row says so, and a vendor that is not known leads to init', async () => {
  const workplace = createWorkplace();
  try {
    const data = join(workplace.folder, 'bare.csv');
    writeFileSync(data, '7,Bought,2023-05-01 10:00:00,1\n8,Sold,2023-05-02 10:00:00,2\n');
    const options = { dataDir: workplace.dataDir('embedded') };
    const bare = await runBackhaul(['init', data], options);
    expect(bare).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/first line holds .* is a record and no header/),
    });
    const manifest = workplace.manifest({ name: 'other', source: { type: 'mixpanel', from: 'bare.csv' } });
    const other = await runBackhaul(['plan', manifest], options);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringMatching(/"mixpanel".*backhaul init/) });
    expect(other.stderr).toContain('declared mapping');
  } finally {
    await workplace.remove();
  }
});
