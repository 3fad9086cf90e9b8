import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { generateAmplitudeExport } from '../../src/demo/generate-amplitude-export.ts';
import {
  type BackhaulProcess,
  killAllBackhaul,
  parseReport,
  startBackhaul,
} from '../support/backhaul-process.ts';
import { startCountingSink } from '../support/counting-sink.ts';
import { startRedis } from '../support/redis.ts';
import { createWorkplace } from '../support/workplace.ts';

/**
 * An export of 2 GB before compression stays under 300 MB of resident memory in the process that stages
 * and imports, and in one that only imports. BACKHAUL_TEST_LONG=1 runs it (some minutes, on Linux).
 */
const LONG = process.env['BACKHAUL_TEST_LONG'] === '1' && process.platform === 'linux';
const TIMEOUT_MS = 1_500_000;
const RECORDS = 1_350_000;
const PERSONS = 20_000;
const MOST_MB = 300;
const KEY = 'phc_memory';
const LOOK_EVERY_MS = 100;

afterEach(killAllBackhaul);

it.runIf(LONG)(
  'memory stays flat over an export of 2 GB',
  async ({ onTestFinished }) => {
    const workplace = createWorkplace();
    onTestFinished(() => workplace.remove());
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const sink = await startCountingSink(KEY);
    onTestFinished(() => sink.stop());
    const facts = await generateAmplitudeExport(join(workplace.folder, 'large.zip'), {
      events: RECORDS,
      persons: PERSONS,
    });
    expect(facts.bytes).toBeGreaterThan(2e9);

    const env = { REDIS_URL: redis.url, BACKHAUL_PROJECT_API_KEY: KEY };
    const options = { dataDir: workplace.dataDir('memory'), env };
    const fast = 100_000_000;
    const manifest = workplace.manifest({
      name: 'memory',
      source: { type: 'amplitude', from: 'large.zip' },
      rejects: { failAbove: '5%' },
      destination: { url: sink.url, apiKey: '${BACKHAUL_PROJECT_API_KEY}' },
      limits: { eventsPerMinute: fast },
      approval: { reference: 'test', eventsPerMinute: fast },
    });

    const startMs = performance.now();
    const worker = startBackhaul(['worker'], options);
    const run = startBackhaul(['run', '--json', manifest], options);
    const peaks = watchPeaks({ run, worker });
    const ended = await run.ended;
    const seconds = (performance.now() - startMs) / 1_000;
    worker.kill('SIGTERM');
    await worker.ended;
    const { run: runMb = 0, worker: workerMb = 0 } = peaks.stop();

    console.info(
      `${RECORDS} records, ${Math.round(facts.bytes / 1e6)} MB, ${Math.round(seconds)} s; ` +
        `peak of run ${runMb} MB, of worker ${workerMb} MB`,
    );
    expect(ended.code, ended.stderr).toBe(0);
    const { balanced, counts, events } = parseReport(ended);
    expect(balanced).toBe(true);
    expect(counts.read).toBe(RECORDS);
    expect(sink.events()).toBe(events.accepted + events.synthetic);
    expect(runMb).toBeLessThan(MOST_MB);
    expect(workerMb).toBeLessThan(MOST_MB);
  },
  TIMEOUT_MS,
);

/** The peaks that the kernel keeps, read while the processes live. */
function watchPeaks(processes: Readonly<Record<string, BackhaulProcess>>) {
  const peaksMb: Record<string, number> = {};
  const look = setInterval(() => {
    for (const [name, { pid }] of Object.entries(processes))
      peaksMb[name] = readPeakMb(pid) ?? peaksMb[name] ?? 0;
  }, LOOK_EVERY_MS);
  return {
    stop() {
      clearInterval(look);
      return peaksMb;
    },
  };
}

/** Undefined once the process is gone. */
function readPeakMb(pid: number): number | undefined {
  try {
    const [, kib] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib === undefined ? undefined : Math.round((Number(kib) * 1024) / 1e6);
  } catch {
    return undefined;
  }
}
