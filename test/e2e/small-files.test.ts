import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { killAllBackhaul, parseReport, runBackhaul } from '../support/backhaul-process.ts';
import { ALL } from '../support/form.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace } from '../support/workplace.ts';

/**
 * Small files share slices, parts and requests, and reports and rejects still name each. The long form has
 * 5,000 files, which once made 5,000 requests and 83 MB of staging.
 */
const TIMEOUT_MS = 300_000;
const API_KEY = 'phc_small';
const FILES = ALL ? 5_000 : 600;
const RECORDS = 10;
afterEach(killAllBackhaul);

/** Bytes that a folder takes, in blocks as file systems count them. */
const measureFolder = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, { parentPath, name }) => sum + Math.ceil(statSync(join(parentPath, name)).size / 4096) * 4096,
      0,
    );

const nameFile = (file: number) => `${String(file).padStart(5, '0')}.jsonl`;
const writeLine = (n: number) =>
  JSON.stringify({ e: 'counted', u: `u-${n % 7}`, t: '2024-02-03T04:05:06Z', n });
const writeLines = (file: number) =>
  Array.from({ length: RECORDS }, (_, index) => `${writeLine(file * RECORDS + index)}\n`).join('');

const rejectLine = z.object({ file: z.string(), line: z.number(), text: z.string() });

it(
  'thousands of small files take few parts and requests, and a broken one holds none of the others up',
  async ({ onTestFinished }) => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    const destination = await startStrictDestination({ apiKey: API_KEY });
    onTestFinished(() => destination.stop());
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const dataDir = workplace.dataDir('embedded');
    const backhaul = (...args: string[]) =>
      runBackhaul(args, { dataDir, env: { BACKHAUL_PROJECT_API_KEY: API_KEY, REDIS_URL: redis.url } });
    mkdirSync(join(workplace.folder, 'in'));
    const put = (file: number, body: string | Buffer) =>
      writeFileSync(join(workplace.folder, 'in', nameFile(file)), body);
    for (let file = 0; file < FILES; file += 1) put(file, writeLines(file));
    put(3, writeLines(3).replace(writeLine(32), 'not JSON'));
    const packed = gzipSync(writeLines(7), { level: 0 });
    put(7, packed.subarray(0, packed.length / 2));

    const manifest = workplace.manifest({
      name: 'small',
      source: {
        type: 'jsonl',
        from: 'in',
        mapping: {
          event: { column: 'e' },
          distinctId: { column: 'u' },
          timestamp: { column: 't' },
          key: ['n'],
        },
      },
      destination: { url: destination.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
      limits: { eventsPerMinute: 1_000_000 },
      approval: { reference: 'test', eventsPerMinute: 1_000_000, totalEvents: 20_000_000 },
    });
    const ended = await backhaul('run', '--json', manifest);
    expect(ended.code, ended.stderr).toBe(1);
    const broken = parseReport(ended);
    expect(broken.unfinished).toMatchObject({
      files: [`in/${nameFile(7)}`],
      failures: [{ reason: expect.stringMatching(/^in\/00007\.jsonl is damaged gzip at byte/) }],
    });
    expect(broken.counts.delivered).toBeGreaterThanOrEqual((FILES - 1) * RECORDS - 1);

    put(7, packed);
    const repaired = await backhaul('resume', '--json', 'small');
    expect(repaired.code, repaired.stderr).toBe(0);
    const report = parseReport(repaired);
    expect(report).toMatchObject({
      balanced: true,
      counts: { read: FILES * RECORDS, delivered: FILES * RECORDS - 1, rejected: 1 },
    });
    expect(report.byFile).toHaveLength(FILES);
    for (const { file, counts } of report.byFile) {
      const rejected = file === `in/${nameFile(3)}` ? 1 : 0;
      expect(counts, file).toMatchObject({ read: RECORDS, delivered: RECORDS - rejected, rejected });
    }
    const arrived = [...destination.events().values()].map(({ properties }) => Number(properties['n']));
    expect(new Set(arrived).size).toBe(FILES * RECORDS - 1);
    expect(arrived).not.toContain(32);

    const rejects = await backhaul('rejects', 'show', 'small', '--json');
    expect(rejectLine.parse(JSON.parse(rejects.stdout))).toEqual({
      file: `in/${nameFile(3)}`,
      line: 3,
      text: 'not JSON',
    });
    // A part ends behind 500 files, and each has one request a thousand events; the repaired file adds one.
    expect(destination.requests.length).toBeLessThanOrEqual((FILES * RECORDS) / 1_000 + 4);
    // Parts lie unpacked in a folder that has space for them.
    expect(measureFolder(join(dataDir, 'staging'))).toBeLessThan(FILES * 2_200 + 200_000);
  },
  TIMEOUT_MS,
);
