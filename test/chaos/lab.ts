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
import { compareSets, type EventSet, eventsAt, eventsInBundledApi, SAME } from '../support/event-set.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { until } from '../support/until.ts';
import { createWorkplace, writeExports } from '../support/workplace.ts';

/** One export, and how an uninterrupted run of it goes. */
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
  /** Kills what the run started. A run that ends by itself before it can be killed has missed its moment. */
  killPart(part: 'redis' | 'api', run: BackhaulProcess): Promise<void>;
  wipeRedis(run: BackhaulProcess): Promise<void>;
  /** Whether the strict destination takes seconds for each request: the run is still under way when it is stopped. */
  setSlow(isSlow: boolean): void;
  /** Resumes until the migration is done, and expects what an uninterrupted run comes to. */
  expectSameEnd(stopped: Ended): Promise<void>;
}

export interface LabOptions {
  /** Of each of the six files. @default 1,000 */
  readonly records?: number;
  /** Of every command: where staging lies, for example. */
  readonly env?: (name: string) => Readonly<Record<string, string>>;
  /**
   * A strict destination in this process costs a fraction of starting the bundled API with every command. It
   * has a budget, so a run into it waits a minute when its Redis has lost everything. @default 'strict'
   */
  readonly destination?: 'strict' | 'bundled';
}

/** Where the events of a bench go. */
interface Target {
  readonly manifest: object;
  readonly env: Readonly<Record<string, string>>;
  readonly setLatency: (ms: number) => void;
  /** Once no process uses the data folder. */
  readonly events: (dataDir: string) => Promise<EventSet>;
}

export const LAB_TIMEOUT_MS = 180_000;
const FILES = 6;
const RESUMES_MAX = 5;
const API_KEY = 'phc_chaos';
/** Of the strict destination, so that a run lasts long enough to be interrupted. */
const LATENCY_MS = 100;
const SLOW_MS = 2_000;
/** No pacing to speak of. */
const EVENTS_PER_MINUTE = 1_000_000;

export async function createLab({
  records = 1_000,
  env = () => ({}),
  destination = 'strict',
}: LabOptions = {}): Promise<Lab> {
  const workplace = createWorkplace();
  const toStop: (() => Promise<void>)[] = [];
  await writeExports(workplace, { files: FILES, records });

  const moments = { hit: 0, missed: 0 };
  /** Of an uninterrupted run, from the services being up to the end: the shortest seen. */
  let durationMs = Number.POSITIVE_INFINITY;

  async function startStrictTarget(): Promise<Target> {
    const strict = await startStrictDestination({ apiKey: API_KEY, latencyMs: LATENCY_MS });
    toStop.push(strict.stop);
    return {
      manifest: {
        destination: { url: strict.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
        approval: { reference: 'a test', eventsPerMinute: EVENTS_PER_MINUTE },
      },
      env: { BACKHAUL_PROJECT_API_KEY: API_KEY },
      setLatency: strict.setLatency,
      async events() {
        expect(strict.conflicts).toEqual([]);
        return eventsAt(strict);
      },
    };
  }

  async function openBench(name: string, expected: () => Reference) {
    const isStrict = destination === 'strict';
    const dataDir = isStrict ? workplace.dataDir(name) : await workplace.readyDataDir(name);
    const target = isStrict ? await startStrictTarget() : BUNDLED;
    const manifest = workplace.manifest({
      name,
      source: { type: 'amplitude', from: 'exports/*.zip' },
      rejects: { failAbove: '5%' },
      // Small batches: there is much to interrupt.
      limits: {
        requestsInFlight: 2,
        batch: { events: 100 },
        ...(isStrict ? { eventsPerMinute: EVENTS_PER_MINUTE } : {}),
      },
      ...target.manifest,
    });
    const options = { dataDir, env: { ...target.env, ...env(name) } };
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
        await until(`${count} receipts`, () => countFiles(folder) >= count || undefined, LAB_TIMEOUT_MS);
      },
      async killPart(part, run) {
        const pid = await until(`a pid of ${part}, or the end of its run`, () =>
          run.isRunning() ? readPid(dataDir, part) : null,
        );
        try {
          if (pid !== null) return void process.kill(pid, 'SIGKILL');
        } catch {
          // it ended after its pid was read
        }
        moments.hit -= 1;
        moments.missed += 1;
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
      setSlow: (isSlow) => target.setLatency(isSlow ? SLOW_MS : 0),
      async expectSameEnd(stopped) {
        bench.setSlow(false);
        let ended = stopped;
        for (let resumes = 0; wasStopped(ended) && resumes < RESUMES_MAX; resumes += 1) {
          // Killed before the migration was written down: there is nothing to resume yet.
          const again = isUnknown(ended) ? ['run', '--json', manifest] : ['resume', '--json', name];
          ended = await bench.command(...again);
        }
        expect(ended.code, ended.stderr).toBe(0);
        const { events, counts } = expected();
        expect(parseReport(ended)).toMatchObject({ balanced: true, problems: [], counts });
        expect(compareSets(await target.events(dataDir), events)).toEqual(SAME);
      },
    };
    return { bench, target };
  }

  async function measure(): Promise<Reference> {
    const { bench, target } = await openBench('reference', () => {
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
    return { events: await target.events(bench.dataDir), counts };
  }

  const reference = await measure();
  return {
    reference,
    moments,
    open: async (name) => (await openBench(name, () => reference)).bench,
    async remove() {
      for (const stop of toStop) await stop();
      await workplace.remove();
    },
  };
}

const BUNDLED: Target = { manifest: {}, env: {}, setLatency: () => {}, events: eventsInBundledApi };

const wasStopped = (ended: Ended) => ended.code === null || ended.code === 5 || isUnknown(ended);
/** Killed or stopped before its first epoch: `run` is what the message asks for then. */
const isUnknown = ({ code, stderr }: Ended) =>
  (code === 2 && /there is no migration|was created in .* and then never started/.test(stderr)) ||
  (code === 143 && stderr.includes('Stopped before the run began; nothing of it was sent.'));

function countFiles(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true }).filter((name) => String(name).endsWith('.json')).length;
  } catch {
    return 0;
  }
}
