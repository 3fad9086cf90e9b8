import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect } from 'vitest';
import {
  type BackhaulProcess,
  type Ended,
  parseReport,
  readPid,
  runBackhaul,
  startBackhaul,
  waitForServices,
} from '../support/backhaul-process.ts';
import { compareSets, type EventSet, eventsInBundledApi, SAME } from '../support/event-set.ts';
import { until } from '../support/until.ts';
import { createWorkplace, writeExports } from '../support/workplace.ts';

/** One export, and how an uninterrupted run of it into the bundled API goes. */
export interface Lab {
  readonly reference: Reference;
  /** How many moments came while the run was under way, and how many after its end: those prove little. */
  readonly moments: { readonly hit: number; readonly missed: number };
  /** `name` is the migration's. */
  open(name: string): Promise<Bench>;
  remove(): Promise<void>;
}

export interface Reference {
  readonly events: EventSet;
  readonly counts: object;
}

/** A data folder of a test's own, with the same export as everyone. */
export interface Bench {
  readonly name: string;
  readonly dataDir: string;
  readonly manifest: string;
  start(...args: string[]): BackhaulProcess;
  command(...args: string[]): Promise<Ended>;
  /** The same with other variables. */
  commandWith(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Ended>;
  /** Waits until the parts are up. */
  up(run: BackhaulProcess): Promise<void>;
  /** Waits until the parts are up, and then for a share of what the reference took. */
  moment(run: BackhaulProcess, share: number): Promise<void>;
  /** Waits until so many parts are done. */
  receipts(count: number): Promise<void>;
  killPart(part: 'redis' | 'api'): Promise<void>;
  wipeRedis(run: BackhaulProcess): Promise<void>;
  /** Resumes until the migration is done, and expects what an uninterrupted run comes to. */
  expectSameEnd(stopped: Ended): Promise<void>;
}

export interface LabOptions {
  /** Of each of the six files. @default 1,000 */
  readonly records?: number;
  /** Of every command: where staging lies, for example. */
  readonly env?: (name: string) => Readonly<Record<string, string>>;
}

export const LAB_TIMEOUT_MS = 180_000;
const FILES = 6;
const RESUMES_MAX = 5;

export async function createLab({ records = 1_000, env = () => ({}) }: LabOptions = {}): Promise<Lab> {
  const workplace = createWorkplace();
  await writeExports(workplace, { files: FILES, records });

  const moments = { hit: 0, missed: 0 };
  /** Of an uninterrupted run, from the services being up to the end: the shortest seen. */
  let durationMs = Number.POSITIVE_INFINITY;

  async function openBench(name: string, expected: () => Reference) {
    const dataDir = await workplace.readyDataDir(name);
    const manifest = workplace.manifest({
      name,
      source: { type: 'amplitude', from: 'exports/*.zip' },
      rejects: { failAbove: '5%' },
      // Small batches: there is much to interrupt.
      limits: { requestsInFlight: 2, batch: { events: 100 } },
    });
    const options = { dataDir, env: env(name) };
    const start = (...args: string[]) => startBackhaul(args, options);

    const bench: Bench = {
      name,
      dataDir,
      manifest,
      start,
      command: (...args) => runBackhaul(args, options),
      commandWith: (other, ...args) => runBackhaul(args, { dataDir, env: { ...options.env, ...other } }),
      async up(run) {
        await waitForServices(dataDir, run);
      },
      async moment(run, share) {
        await waitForServices(dataDir, run);
        const startMs = performance.now();
        await Promise.race([pause(share * durationMs), run.ended]);
        if (run.isRunning()) moments.hit += 1;
        else {
          moments.missed += 1;
          durationMs = Math.min(durationMs, performance.now() - startMs);
        }
      },
      async receipts(count) {
        const folder = join(dataDir, 'staging', name, 'receipts');
        await until(`${count} receipts`, () => (countFiles(folder) >= count ? true : undefined));
      },
      async killPart(part) {
        const pid = await until(`a pid of ${part}`, () => readPid(dataDir, part));
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // the run has ended in this very moment, and took it along
        }
      },
      async wipeRedis(run) {
        // The run may end in this very moment and take its Redis along: then nothing was lost.
        const published = await waitForServices(dataDir, run).catch(() => run.ended);
        if (!('redisUrl' in published)) return;
        const redis = new Redis(published.redisUrl);
        redis.on('error', () => {});
        await Promise.race([redis.flushall(), run.ended]);
        redis.disconnect();
      },
      async expectSameEnd(stopped) {
        let ended = stopped;
        for (let resumes = 0; wasStopped(ended) && resumes < RESUMES_MAX; resumes += 1) {
          // Killed before the migration was written down: there is nothing to resume yet.
          const again = isUnknown(ended) ? ['run', '--json', manifest] : ['resume', '--json', name];
          ended = await start(...again).ended;
        }
        expect(ended.code, ended.stderr).toBe(0);
        const { events, counts } = expected();
        expect(parseReport(ended)).toMatchObject({ balanced: true, problems: [], counts });
        expect(compareSets(await eventsInBundledApi(dataDir), events)).toEqual(SAME);
      },
    };
    return bench;
  }

  async function measure(): Promise<Reference> {
    const bench = await openBench('reference', () => {
      throw new Error('the reference has none itself');
    });
    const run = bench.start('run', '--json', bench.manifest);
    await waitForServices(bench.dataDir, run);
    const startMs = performance.now();
    const ended = await run.ended;
    durationMs = performance.now() - startMs;
    expect(ended.code, ended.stderr).toBe(0);
    const { balanced, counts } = parseReport(ended);
    expect(balanced).toBe(true);
    expect(counts.read).toBe(FILES * records);
    return { events: await eventsInBundledApi(bench.dataDir), counts };
  }

  const reference = await measure();
  return {
    reference,
    moments,
    open: (name) => openBench(name, () => reference),
    remove: () => workplace.remove(),
  };
}

const wasStopped = (ended: Ended) => ended.code === null || ended.code === 5 || isUnknown(ended);
/** Killed before its first epoch: `run` is what the message asks for then. */
const isUnknown = ({ code, stderr }: Ended) =>
  code === 2 && /there is no migration|was created in .* and then never started/.test(stderr);

function countFiles(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.json')).length;
  } catch {
    return 0;
  }
}
