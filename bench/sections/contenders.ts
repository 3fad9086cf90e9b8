import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Result } from '../contenders/contender.ts';
import { toBackhaulEnv } from '../lab/backhaul-env.ts';
import type { Lab } from '../lab/lab.ts';
import { type Measured, runMeasured } from '../lab/run-measured.ts';
import { toScriptPath } from '../lab/script.ts';
import type { Arrived } from '../lab/sink.ts';
import type { SampleInput } from '../sample-input.ts';

/** One run of a contender, with what arrived. */
export interface Run extends Measured {
  readonly records: number;
  readonly sent: number;
  readonly arrived: Arrived;
  readonly phases: Result['phases'];
  /** Why its figures must not be used; empty when everything arrived and the books balance. */
  readonly problems: readonly string[];
}

export interface Setting {
  readonly input: SampleInput;
  readonly latencyMs: number;
  readonly cores: number;
}

export interface Entrant {
  readonly key: string;
  /** Its row. */
  readonly title: string;
  /** Whether it needs the packages of `bench/peers`. */
  readonly peer?: true;
  /** Of Backhaul: what is wrong with its runs makes the benchmark fail. */
  readonly own?: true;
  run(lab: Lab, setting: Setting): Promise<Run>;
}

/** A script of this folder, run by `run-contender`. */
export const createScript = (
  key: string,
  title: string,
  options: { readonly peer?: true } = {},
): Entrant => ({
  key,
  title,
  ...options,
  ...(key === 'parts' ? { own: true as const } : {}),
  async run(lab, { input, latencyMs, cores }) {
    const folder = await lab.createFolder(key);
    await lab.resetSink(latencyMs);
    const node = [...lab.pinning.contender(cores), process.execPath, toScriptPath('run-contender')];
    const measured = await runMeasured([
      ...node,
      key,
      input.path,
      lab.sinkUrl,
      folder,
      lab.peers.folder ?? '',
    ]);
    const arrived = await lab.countArrived();
    await rm(folder, { recursive: true, force: true });
    const problem = describeFailure(measured);
    const { records, sent, phases } = problem
      ? { records: 0, sent: 0, phases: undefined }
      : (JSON.parse(readLastLine(measured.stdout)) as Result);
    const problems = problem ? [problem] : checkArrival({ records, sent, arrived: arrived.events }, input);
    return { ...measured, records, sent, arrived, phases, problems };
  },
});

const describeFailure = ({ code, stderr }: Measured): string | undefined =>
  code === 0 ? undefined : `ended with ${code}: ${stderr.trim().slice(-600)}`;

const readLastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? '';

function checkArrival(
  { records, sent, arrived }: { readonly records: number; readonly sent: number; readonly arrived: number },
  input: SampleInput,
): string[] {
  return [
    ...(records === input.records ? [] : [`read ${records} of ${input.records} records`]),
    ...(sent === arrived ? [] : [`sent ${sent} events, ${arrived} arrived`]),
  ];
}

/** What of the report is looked at. */
interface ReportFigures {
  readonly counts: { readonly read: number };
  readonly balanced: boolean;
  readonly events: { readonly accepted: number; readonly distinct?: number; readonly synthetic: number };
}

export interface BackhaulOptions {
  readonly root: string;
  readonly eventsPerMinute?: number;
  /** Worker processes beside the one that runs the migration. @default 0 */
  readonly workers?: number;
}

/** Fast enough never to wait. */
const UNLIMITED = 100_000_000;

/** `backhaul run` as a user calls it, with a Redis and a destination that are ready; Redis counts as cost. */
export const createBackhaul = (
  key: string,
  title: string,
  { root, eventsPerMinute = UNLIMITED, workers = 0 }: BackhaulOptions,
): Entrant => ({
  key,
  title,
  own: true,
  async run(lab, { input, latencyMs, cores }) {
    const folder = await lab.createFolder('run');
    const manifest = await writeManifest(folder, input, lab.sinkUrl, eventsPerMinute);
    await lab.redis.clear();
    await lab.resetSink(latencyMs);
    const program = [...lab.pinning.contender(cores), process.execPath, join(root, 'src/setup/backhaul.mjs')];
    const measured = await runMeasured(withWorkers(program, workers, ['run', manifest, '--json']), {
      cwd: folder,
      env: toBackhaulEnv(join(folder, 'data'), lab.redis.url),
      services: [lab.redis.pid],
    });
    const arrived = await lab.countArrived();
    await rm(folder, { recursive: true, force: true });
    const problem = describeFailure(measured);
    if (problem) {
      return { ...measured, records: 0, sent: 0, arrived, phases: undefined, problems: [problem] };
    }
    const report = JSON.parse(readLastLine(measured.stdout)) as ReportFigures;
    const { distinct = 0, synthetic } = report.events;
    const sent = report.events.accepted + synthetic;
    const problems = [
      ...(report.balanced ? [] : ['the books do not balance']),
      ...checkArrival({ records: report.counts.read, sent, arrived: arrived.events }, input),
      ...(arrived.distinct === distinct + synthetic
        ? []
        : [`reports ${distinct + synthetic} different events, ${arrived.distinct} arrived`]),
    ];
    return { ...measured, records: report.counts.read, sent, arrived, phases: undefined, problems };
  },
});

/** A shell starts the workers, ends them after the run and waits for them, so that their time is counted. */
function withWorkers(program: readonly string[], workers: number, args: readonly string[]): string[] {
  if (workers === 0) return [...program, ...args];
  const script =
    'n=$1; shift; p=""; i=0; while [ $i -lt $n ]; do "$@" worker >/dev/null 2>&1 & p="$p $!"; i=$((i+1)); done; ' +
    '"$@" run "$MANIFEST" --json; code=$?; kill -TERM $p; wait; exit $code';
  return ['env', `MANIFEST=${args[1] ?? ''}`, 'sh', '-c', script, 'sh', String(workers), ...program];
}

export async function writeManifest(
  folder: string,
  input: SampleInput,
  url: string | undefined,
  eventsPerMinute = UNLIMITED,
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, 'manifest.json');
  const manifest = {
    name: 'bench',
    source: { type: 'amplitude', timezone: 'UTC', from: [input.path] },
    ...(url === undefined
      ? {}
      : {
          destination: { url, apiKey: '${BENCH_KEY}' },
          limits: { eventsPerMinute },
          approval: { reference: 'bench', eventsPerMinute, totalEvents: 1_000_000_000 },
        }),
  };
  // JSON is YAML.
  await writeFile(path, JSON.stringify(manifest));
  return path;
}
