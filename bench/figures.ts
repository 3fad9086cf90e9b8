import type { StageTimes } from './run-stages.ts';
import { computeRatio, computeSpread, type Spread } from './spread.ts';
import { REFERENCE } from './stages.ts';
import type { ContenderName, Run } from './whole-path.ts';

/** What `--json` prints and the table shows. Ratios travel; everything per second is this machine's, now. */
export interface Figures {
  readonly input: { readonly records: number; readonly bytes: number };
  readonly rounds: { readonly wholePath: number; readonly stages: number };
  readonly wholePath: readonly PathFigures[];
  readonly stages: readonly StageFigures[];
}

export interface PathFigures {
  readonly name: string;
  /** Records per CPU second, as multiples of the documented script's. */
  readonly timesDocumented: Spread;
  /** The same, of the ceiling's. */
  readonly timesCeiling: Spread;
  readonly recordsPerCpuSecond: number;
  /** Missing for a phase: it shares its process with the others. */
  readonly peakRssMb?: number;
  readonly events: number;
}

export interface StageFigures {
  readonly source: string;
  readonly name: string;
  /** CPU time as multiples of JSON.parse over the same records. */
  readonly timesParse: Spread;
  readonly recordsPerCpuSecond: number;
}

type Runs = Readonly<Record<ContenderName, readonly Run[]>>;

export function pathFigures(runs: Runs): PathFigures[] {
  const rate = ({ records }: Run, cpuMs: number) => (records * 1000) / cpuMs;
  const whole = (of: readonly Run[]) => of.map((run) => rate(run, cpuOf(run)));
  const documented = whole(runs.documented);
  const ceiling = whole(runs.ceiling);
  const figures = (name: string, of: readonly Run[], rates: readonly number[]): PathFigures => ({
    name,
    timesDocumented: computeRatio(rates, documented),
    timesCeiling: computeRatio(rates, ceiling),
    recordsPerCpuSecond: computeSpread(rates).median,
    events: of[0]?.arrived ?? 0,
  });
  const withMemory = (name: string, of: readonly Run[]): PathFigures => ({
    ...figures(name, of, whole(of)),
    peakRssMb: computeSpread(of.map(({ peakRssMb }) => peakRssMb)).median,
  });
  const phase = (name: string, key: string): PathFigures =>
    figures(
      name,
      runs.backhaul,
      runs.backhaul.map((run) => rate(run, run.phases[key]?.cpuMs ?? Number.NaN)),
    );
  return [
    withMemory('documented script (readline, JSON.parse, fetch)', runs.documented),
    withMemory('Backhaul, staging and import', runs.backhaul),
    phase('  of it staging', 'stage'),
    phase('  of it import', 'import'),
    withMemory('ceiling: gunzip, split, parse, stringify, nothing sent', runs.ceiling),
  ];
}

const cpuOf = ({ phases }: Run): number => Object.values(phases).reduce((sum, { cpuMs }) => sum + cpuMs, 0);

export function stageFigures(times: readonly StageTimes[]): StageFigures[] {
  return times.map(({ source, name, records, cpuMs }) => {
    const reference = times.find((other) => other.source === source && other.name === REFERENCE);
    return {
      source,
      name,
      timesParse: computeRatio(cpuMs, reference?.cpuMs ?? []),
      recordsPerCpuSecond: (records * 1000) / computeSpread(cpuMs).median,
    };
  });
}
