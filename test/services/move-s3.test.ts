import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { killAllBackhaul, parseReport } from '../support/backhaul-process.ts';
import { compareSets, eventsAt, SAME } from '../support/event-set.ts';
import { ALL } from '../support/form.ts';
import { API_KEY, createMachine } from '../support/machines.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, writeExports } from '../support/workplace.ts';

const s3 = ALL ? await startRadosgw() : undefined;
const bucket = 'backhaul-move';
await s3?.createBucket(bucket);
afterAll(() => s3?.stop());
afterEach(killAllBackhaul);

const NAME = 'moving';

describe.skipIf(!s3)('a migration that is moved', () => {
  it('goes from a folder to a bucket in the middle, and back when it is done', async ({ onTestFinished }) => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    await writeExports(workplace, { files: 3, records: 400 });
    const manifest = workplace.manifest({
      name: NAME,
      source: { type: 'amplitude', from: 'exports/*.zip' },
      rejects: { failAbove: '5%' },
      limits: { requestsInFlight: 1, batch: { events: 50 } },
    });
    const startApi = async (latencyMs: number) => {
      const api = await startStrictDestination({ apiKey: API_KEY, latencyMs });
      onTestFinished(() => api.stop());
      return api;
    };
    const whole = await startApi(0);
    const uninterrupted = await createMachine(workplace, 'whole', whole).command('run', '--json', manifest);
    const { counts } = parseReport(uninterrupted);

    const api = await startApi(30);
    const folder = createMachine(workplace, 'folder', api);
    const inBucket = createMachine(workplace, 'bucket', api, {
      BACKHAUL_STAGING: `s3://${bucket}/${randomUUID()}`,
      BACKHAUL_S3_ENDPOINT: s3?.endpoint ?? '',
      BACKHAUL_S3_ACCESS_KEY_ID: s3?.accessKeyId ?? '',
      BACKHAUL_S3_SECRET_ACCESS_KEY: s3?.secretAccessKey ?? '',
    });
    const files = ['there.tar.gz', 'back.tar.gz'].map((name) => join(workplace.folder, name));
    const run = folder.start('run', manifest);
    await until('some batches', () => api.arrivals.length > 4 || undefined, 60_000);
    run.kill('SIGKILL');
    await run.ended;
    api.setLatency(0);
    const expectDone = async (command: ReturnType<typeof folder.command>) => {
      const ended = await command;
      expect(ended.code, ended.stderr).toBe(0);
      return ended;
    };
    await expectDone(folder.command('state', 'export', NAME, '--to', files[0] ?? ''));
    await expectDone(inBucket.command('state', 'import', files[0] ?? ''));
    const resumed = await expectDone(inBucket.command('resume', '--json', NAME));
    expect(parseReport(resumed)).toMatchObject({ balanced: true, problems: [], counts });
    expect(compareSets(eventsAt(api), eventsAt(whole))).toEqual(SAME);

    await expectDone(inBucket.command('state', 'export', NAME, '--to', files[1] ?? ''));
    await expectDone(folder.command('state', 'import', files[1] ?? ''));
    const report = await expectDone(folder.command('report', '--json', NAME));
    expect(parseReport(report)).toMatchObject({ balanced: true, problems: [], counts });
  }, 180_000);
});
