import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { canonicalJson } from '../../src/lib/json/canonical-json.ts';
import { type Ended, killAllBackhaul, parseReport, runBackhaul } from '../support/backhaul-process.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import {
  type StoredEvent,
  type StrictDestination,
  startStrictDestination,
} from '../support/strict-destination.ts';
import { createWorkplace, type Workplace } from '../support/workplace.ts';

/**
 * Migrations that version 0.1.0 began are resumed and read by the present code. The fixture's README
 * describes them. Each must deliver exactly what that version delivers in an uninterrupted run.
 */
const FIXTURE = fileURLToPath(new URL('../fixtures/staging-0.1.0', import.meta.url));
const API_KEY = 'phc_fixture';
const RECORDED_FOLDER = '/srv/backhaul';
const RECORDED_ADDRESS = 'http://127.0.0.1:47911';
const TIMEOUT_MS = 300_000;

let workplace: Workplace;
let redis: TestRedis;
let destination: StrictDestination;

beforeAll(async () => {
  workplace = createWorkplace();
  redis = await startRedis();
  destination = await startStrictDestination({ apiKey: API_KEY });
  cpSync(FIXTURE, workplace.folder, { recursive: true });
  cpSync(join(FIXTURE, 'staging'), join(workplace.dataDir('old'), 'staging'), { recursive: true });
  for (const path of listFiles(workplace.folder)) {
    if (!path.endsWith('.gz')) relocate(path);
  }
}, TIMEOUT_MS);
afterEach(killAllBackhaul);
afterAll(async () => {
  await destination?.stop();
  await redis?.stop();
  await workplace?.remove();
});

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Staging stores the folder of the manifest and the address of the destination. */
function relocate(path: string): void {
  const text = readFileSync(path, 'utf8');
  const moved = text
    .replaceAll(RECORDED_FOLDER, workplace.folder)
    .replaceAll(RECORDED_ADDRESS, destination.url);
  if (moved !== text) writeFileSync(path, moved);
}

const backhaul = (...args: string[]): Promise<Ended> =>
  runBackhaul(args, {
    dataDir: workplace.dataDir('old'),
    env: { BACKHAUL_PROJECT_API_KEY: API_KEY, REDIS_URL: redis.url },
  });

async function readOutput(...args: string[]): Promise<string> {
  const ended = await backhaul(...args);
  expect(ended.code, ended.stderr).toBe(0);
  return ended.stdout;
}

const deliveredLine = z.tuple([z.string(), z.string(), z.string(), z.string(), z.string(), z.string()]);

/** Each event is uuid, event, distinct_id, timestamp, and the hash of its properties. */
const readDelivered = (file: string, migration: string): string[][] =>
  readFileSync(join(FIXTURE, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => deliveredLine.parse(JSON.parse(line)))
    .filter(([of]) => of === migration)
    .map(([, ...event]) => event);

const toLine = ({ uuid, event, distinctId, timestamp, properties }: StoredEvent): string[] => {
  const sha256 = createHash('sha256').update(canonicalJson(properties)).digest('hex');
  return [uuid, event, distinctId, timestamp, sha256];
};

/** Events by uuid: only those of `before` or those that arrived since, or both. */
const merge = (before: string[][], after: string[][]): string[][] => [
  ...new Map([...before, ...after].map((event) => [event[0], event])).values(),
];

const sort = (events: readonly string[][]) => events.map((event) => event.join('\t')).sort();

/** The report of the uninterrupted run, as far as it does not depend on when and where it ran. */
function readReport(migration: string): Record<string, unknown> {
  const { startedAt, ...report } = JSON.parse(
    readFileSync(join(workplace.folder, 'reports', `${migration}.json`), 'utf8'),
  );
  expect(startedAt).toBeDefined();
  return report;
}

/** Runs a command that delivers events; resolves with its report and the events that arrived meanwhile. */
async function deliver(...args: string[]) {
  const known = new Set(destination.events().keys());
  const ended = await backhaul(...args);
  expect(ended.code, ended.stderr).toBe(0);
  const arrived = [...destination.events().values()].filter(({ uuid }) => !known.has(uuid)).map(toLine);
  expect(destination.conflicts).toEqual([]);
  return { report: parseReport(ended), arrived };
}

it(
  'status reads what version 0.1.0 left behind',
  async () => {
    expect(JSON.parse(await readOutput('status', '--json'))).toMatchObject([
      {
        migration: 'amplitude-2023',
        state: 'paused',
        reason: 'asked for on the command line',
        parts: { done: 1, staged: 4 },
        records: { staged: 92 },
        counts: { read: 68, delivered: 56, skipped: 0, duplicate: 0, rejected: 12 },
      },
      {
        migration: 'segment-calls',
        state: 'interrupted',
        reason: expect.any(String),
        parts: { done: 1, staged: 2 },
        records: { staged: 30 },
        counts: { read: 26, delivered: 9, skipped: 6, duplicate: 0, rejected: 11 },
      },
      {
        migration: 'visits',
        state: 'finished',
        reason: '',
        parts: { done: 1, staged: 1 },
        records: { staged: 9 },
        counts: { read: 9, delivered: 6, skipped: 0, duplicate: 0, rejected: 3 },
      },
    ]);
  },
  TIMEOUT_MS,
);

it.each([
  ['amplitude-2023', { before: 56, inReceipts: 35 }],
  ['segment-calls', { before: 9, inReceipts: 9 }],
])(
  '%s is resumed and delivers the events of an uninterrupted run',
  async (migration, { before, inReceipts }) => {
    const delivered = readDelivered('delivered-before.ndjson', migration);
    expect(delivered).toHaveLength(before);
    const { report, arrived } = await deliver('resume', '--json', migration);

    const expected = readDelivered('delivered-uninterrupted.ndjson', migration);
    expect(sort(merge(delivered, arrived))).toEqual(sort(expected));
    // One worker imported part after part: the first events are those of the parts with a receipt.
    const done = new Set(delivered.slice(0, inReceipts).map(([uuid]) => uuid));
    expect(arrived.filter(([uuid]) => done.has(uuid))).toEqual([]);
    expect(report.balanced).toBe(true);
    expect(report).toMatchObject(readReport(migration));
    // The part that version 0.1.0 imported left no fingerprints.
    expect(report.repeats).toEqual({ counted: true, partsWithout: 1 });
    expect(report.events.distinct).toBeUndefined();

    const status = [JSON.parse(await readOutput('status', '--json', migration))].flat();
    expect(status).toMatchObject([{ migration, state: 'finished' }]);
  },
  TIMEOUT_MS,
);

it(
  'a report of version 0.1.0 is rendered, and its rejects are listed with their records',
  async () => {
    const stored = JSON.parse(
      readFileSync(join(workplace.dataDir('old'), 'staging/visits/report.json'), 'utf8'),
    );
    expect(JSON.parse(await readOutput('report', '--json', 'visits'))).toEqual(stored);
    expect(await readOutput('report', 'visits')).toContain(
      'Repeats across parts are not counted: version 0.1.0',
    );
    expect(JSON.parse(await readOutput('rejects', 'ls', '--json', 'visits'))).toEqual({
      migration: 'visits',
      rejects: [
        {
          reason: 'bad_timestamp',
          count: 3,
          left: 3,
          example: expect.stringContaining('visits.csv, line 8: when is "03/26/2023 12:00:00"'),
        },
      ],
      replays: [],
    });
    const rejects = (await readOutput('rejects', 'show', 'visits')).trimEnd().split('\n').map(parseReject);
    expect(rejects).toEqual([
      { line: 8, text: '03/26/2023 12:00:00;7;American order' },
      { line: 9, text: '31/04/2023 12:00:00;8;no such day' },
      { line: 10, text: '2023-03-26 12:00:00;9;another format' },
    ]);
  },
  TIMEOUT_MS,
);

const parseReject = (line: string) =>
  z.object({ line: z.number(), text: z.string() }).parse(JSON.parse(line));

it(
  'a replay is refused where the mapping of version 0.1.0 does not heed its manifest',
  async () => {
    const corrected = JSON.parse(readFileSync(join(workplace.folder, 'visits-corrected.json'), 'utf8'));
    const { source } = corrected;
    const hash = { columns: ['title'], key: '${BACKHAUL_PROJECT_API_KEY}' };
    const manifest = join(workplace.folder, 'visits-hashed.json');
    const content = { ...corrected, source: { ...source, mapping: { ...source.mapping, hash } } };
    writeFileSync(manifest, JSON.stringify(content));
    const known = destination.events().size;
    const ended = await backhaul('rejects', 'replay', 'visits', '--manifest', manifest);
    expect(ended.code, ended.stderr).toBe(2);
    expect(ended.stderr).toContain('begun with mapping csv@1, which does not heed source.mapping.hash');
    expect(destination.events().size).toBe(known);
  },
  TIMEOUT_MS,
);

it(
  'the rejects of version 0.1.0 are replayed with a corrected manifest',
  async () => {
    const manifest = join(workplace.folder, 'visits-corrected.json');
    const { report, arrived } = await deliver(
      'rejects',
      'replay',
      '--json',
      'visits',
      '--manifest',
      manifest,
    );
    const expected = readDelivered('delivered-uninterrupted.ndjson', 'visits.replay-1');
    expect(expected).toHaveLength(1);
    expect(arrived).toEqual(expected);
    expect(report).toMatchObject(readReport('visits.replay-1'));
    const [reportKey] = readdirSync(join(workplace.dataDir('old'), 'staging/visits.replay-1/reports'));
    expect(reportKey).toMatch(/^00000001-[0-9a-f]{8}\.json$/);
  },
  TIMEOUT_MS,
);
