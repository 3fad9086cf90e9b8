import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { type BackhaulProcess, killAllBackhaul, startBackhaul } from '../support/backhaul-process.ts';
import { readText } from '../support/compose.ts';
import { ALL } from '../support/form.ts';
import { getBackhaul, getExported, listGuideCommands } from '../support/guide-commands.ts';
import { toWords } from '../support/parse-command.ts';
import { startRadosgw } from '../support/radosgw.ts';
import { startRedis } from '../support/redis.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

/**
 * The commands of docs/deployment.md as they are written, in its order. Machines and containers are processes with a
 * working folder and a data folder of their own; test/deploy/guide.test.ts lists what is not run.
 */
const s3 = ALL ? await startRadosgw() : undefined;
const BUCKET = 'backhaul-guide';
await s3?.createBucket(BUCKET);
afterAll(() => s3?.stop());
afterEach(killAllBackhaul);

const RECORDS = 40;
const TIMEOUT_MS = 240_000;
/** What the guide writes where the key stands. */
const KEY = 'KEY';

const lines = listGuideCommands();
const before = (line: string) => lines.indexOf(line);

/** Files at the paths that the guide names; `destination` is left out for a rehearsal. */
function writeFiles(folder: string, destination: object | undefined): void {
  mkdirSync(join(folder, 'in'), { recursive: true });
  const events = Array.from({ length: RECORDS }, (_, index) => {
    const event = { event_type: 'Opened', event_time: '2023-03-14 09:26:53', uuid: randomUUID() };
    return `${JSON.stringify({ ...event, user_id: `u-${index % 7}` })}\n`;
  });
  const file = join(folder, 'in/a.json');
  writeFileSync(file, events.join(''));
  // A schedule leaves files of a disk that may still be written to the next run; objects of a bucket appear whole.
  utimesSync(file, new Date('2023-03-15'), new Date('2023-03-15'));
  const source = { type: 'amplitude', from: 'in/*.json' };
  const more = destination ? { destination } : {};
  writeFileSync(join(folder, 'move.yaml'), JSON.stringify({ name: 'move', source, ...more }));
  // The manifest of the guide, with files of a disk in place of the bucket.
  const [, daily = ''] = /```yaml\n(name: daily[\s\S]*?)```/.exec(readText('docs/deployment.md')) ?? [];
  const local = daily.replace('s3://backhaul/exports/', 'in/*.json');
  writeFileSync(
    join(folder, 'daily.yaml'),
    `${local}${destination ? `destination: ${JSON.stringify(destination)}\n` : ''}`,
  );
}

const createPlace = (workplace: Workplace, name: string): string => {
  const folder = join(workplace.folder, name);
  mkdirSync(folder, { recursive: true });
  return folder;
};

async function expectDone(started: BackhaulProcess, line: string): Promise<void> {
  const ended = await started.ended;
  expect(ended.code, `${line}\n${ended.stderr}`).toBe(0);
}

describe.skipIf(!s3)('the guide to deployment', () => {
  it(
    'runs in a container: a rehearsal, a plan, a run and a scheduled backfill',
    async () => {
      const workplace = createWorkplace();
      onTestFinished(() => workplace.remove());
      const dataDir = await workplace.readyDataDir('compose');
      writeFiles(createPlace(workplace, 'exports'), undefined);
      cpSync(resolve('deploy/rehearsal'), join(workplace.folder, 'rehearsal'), { recursive: true });
      const inContainer = lines.filter((line) => line.startsWith('docker compose run --rm worker '));
      expect(inContainer).toHaveLength(7);
      for (const line of inContainer) {
        const words = toWords(getBackhaul(line) ?? '').map((word) =>
          /^\/(exports|rehearsal)\//.test(word) ? join(workplace.folder, word) : word,
        );
        await expectDone(startBackhaul(words, { dataDir, cwd: workplace.folder }), line);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'runs on several machines: workers, one run and a schedule',
    async () => {
      const workplace = createWorkplace();
      onTestFinished(() => workplace.remove());
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const destination = await startStrictDestination({ apiKey: KEY });
      onTestFinished(() => destination.stop());
      const exported = Object.fromEntries(
        lines.flatMap((line) => {
          const name = getExported(line);
          return name === undefined ? [] : [[name, line.slice(`export ${name}=`.length)] as const];
        }),
      );
      const env = {
        ...exported,
        REDIS_URL: redis.url,
        BACKHAUL_STAGING: `s3://${BUCKET}/${randomUUID()}`,
        BACKHAUL_S3_ENDPOINT: s3?.endpoint ?? '',
        BACKHAUL_S3_ACCESS_KEY_ID: s3?.accessKeyId ?? '',
        BACKHAUL_S3_SECRET_ACCESS_KEY: s3?.secretAccessKey ?? '',
      };
      expect(exported['BACKHAUL_PROJECT_API_KEY']).toBe(KEY);
      const start = (machine: string, line: string) => {
        const options = { dataDir: workplace.dataDir(machine), cwd: createPlace(workplace, machine), env };
        return startBackhaul(toWords(getBackhaul(line) ?? ''), options);
      };
      const [worker = '', ...rest] = lines.filter((line) => line.startsWith('npx backhaul '));
      expect([worker, ...rest]).toEqual([
        'npx backhaul worker',
        'npx backhaul run move.yaml --produce-only',
        'npx backhaul schedule set daily.yaml',
      ]);
      expect(before(worker)).toBeLessThan(before(rest[0] ?? ''));
      const workers = [start('first', worker), start('second', worker)];
      writeFiles(createPlace(workplace, 'third'), {
        url: destination.url,
        apiKey: '${BACKHAUL_PROJECT_API_KEY}',
      });
      for (const line of rest) await expectDone(start('third', line), line);
      expect([...destination.events().values()].filter(({ event }) => event === 'Opened')).toHaveLength(
        RECORDS,
      );
      for (const each of workers) {
        expect(each.isRunning(), each.stderr()).toBe(true);
        each.kill('SIGTERM');
        expect((await each.ended).code).toBe(0);
      }
    },
    TIMEOUT_MS,
  );
});
