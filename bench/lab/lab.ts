import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSampleInput, type SampleInput } from '../sample-input.ts';
import { removeAtExit } from './at-exit.ts';
import { createPinning, type Pinning } from './cpus.ts';
import { installPeers, type Peers } from './peers.ts';
import { type BenchRedis, startRedis } from './redis.ts';
import { startService, toScriptPath } from './script.ts';
import type { Arrived } from './sink.ts';

/** What all sections of a benchmark share. */
export interface Lab {
  readonly pinning: Pinning;
  readonly redis: BenchRedis;
  readonly sinkUrl: string;
  readonly peers: Peers;
  /** Another checkout, built, to be compared with. */
  readonly against: string | undefined;
  /** An empty folder, removed with the lab. */
  createFolder(name: string): Promise<string>;
  /** Generates an input once. */
  loadInput(records: number, recordsPerPerson?: number): Promise<SampleInput>;
  /** The sink forgets what arrived and waits so long before each response. */
  resetSink(latencyMs: number): Promise<void>;
  countArrived(): Promise<Arrived>;
  readonly log: (line: string) => void;
  close(): Promise<void>;
}

export interface LabOptions {
  readonly against: string | undefined;
  readonly log: (line: string) => void;
}

export async function openLab({ against, log }: LabOptions): Promise<Lab> {
  const peers = await installPeers(log);
  const folder = await mkdtemp(join(tmpdir(), 'backhaul-bench-'));
  const keepFolder = removeAtExit(folder);
  const pinning = createPinning();
  const redis = await startRedis(folder, pinning.others);
  const sink = await startService([...pinning.others, process.execPath, toScriptPath('lab/sink'), folder]);
  const inputs = new Map<string, Promise<SampleInput>>();
  return {
    pinning,
    redis,
    sinkUrl: sink.line.trim(),
    peers,
    against,
    log,
    createFolder: (name) => mkdtemp(join(folder, `${name}-`)),
    loadInput(records, recordsPerPerson) {
      const key = `${records} ${recordsPerPerson ?? ''}`;
      const made =
        inputs.get(key) ??
        mkdir(join(folder, 'inputs'), { recursive: true }).then(() =>
          createSampleInput(join(folder, 'inputs'), records, recordsPerPerson),
        );
      inputs.set(key, made);
      return made;
    },
    async resetSink(latencyMs) {
      await fetch(`${sink.line.trim()}/reset?latency=${latencyMs}`);
    },
    countArrived: async () => (await (await fetch(`${sink.line.trim()}/arrived`)).json()) as Arrived,
    async close() {
      await sink.stop();
      await redis.stop();
      keepFolder();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
