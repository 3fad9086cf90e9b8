import type { StageTimes } from './run-stages.ts';
import { computeRatio, computeSpread, type Spread } from './spread.ts';
import { REFERENCE } from './stages.ts';
import type { ContenderName, Run } from './whole-path.ts';

/** The figures of `--json` and of the table. Only ratios can be compared between machines. */
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
  /** The same, as multiples of the ceiling's. */
  readonly timesCeiling: Spread;
  readonly recordsPerCpuSecond: number;
  /** Absent for a phase, which shares its process with the others. */
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

export function computePathFigures(runs: Runs): PathFigures[] {
  const computeRate = ({ records }: Run, cpuMs: number) => (records * 1000) / cpuMs;
  const computeRates = (of: readonly Run[]) => of.map((run) => computeRate(run, sumCpuMs(run)));
  const documented = computeRates(runs.documented);
  const ceiling = computeRates(runs.ceiling);
  const toFigures = (name: string, of: readonly Run[], rates: readonly number[]): PathFigures => ({
    name,
    timesDocumented: computeRatio(rates, documented),
    timesCeiling: computeRatio(rates, ceiling),
    recordsPerCpuSecond: computeSpread(rates).median,
    events: of[0]?.arrived ?? 0,
  });
  const withMemory = (name: string, of: readonly Run[]): PathFigures => ({
    ...toFigures(name, of, computeRates(of)),
    peakRssMb: computeSpread(of.map(({ peakRssMb }) => peakRssMb)).median,
  });
  const phase = (name: string, key: string): PathFigures =>
    toFigures(
      name,
      runs.backhaul,
      runs.backhaul.map((run) => computeRate(run, run.phases[key]?.cpuMs ?? Number.NaN)),
    );
  return [
    withMemory('documented script (readline, JSON.parse, fetch)', runs.documented),
    withMemory('Backhaul, staging and import', runs.backhaul),
    phase('  of it staging', 'stage'),
    phase('  of it import', 'import'),
    withMemory('ceiling: gunzip, split, parse, stringify, nothing sent', runs.ceiling),
  ];
}

const sumCpuMs = ({ phases }: Run): number =>
  Object.values(phases).reduce((sum, { cpuMs }) => sum + cpuMs, 0);

export function computeStageFigures(times: readonly StageTimes[]): StageFigures[] {
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
