import type { Row, SectionResult, Table } from '../figures.ts';
import type { Lab } from '../lab/lab.ts';
import { interleave } from '../rounds.ts';
import { createBackhaul, createScript, type Entrant, type Run } from './contenders.ts';
import { describeProblems, listOwnProblems } from './problems.ts';
import { compare, dropUndefined, toMicros, toPeaks, toRates, toSpread } from './spreads.ts';

export interface WholePathOptions {
  readonly records: number;
  readonly latencyMs: number;
  readonly rounds: number;
  /** Backhaul without a queue, and the ceilings, which send nothing. */
  readonly withStagesApart: boolean;
  readonly root: string;
}

const DOCUMENTED = 'documented';
/** What ratios are to where the documented script lost events. */
const AWAITED = 'awaited';
const CEILING = 'serialise';

/** Every contender over the same export, on one core, one after the other in each round. */
export async function measureWholePath(lab: Lab, options: WholePathOptions): Promise<SectionResult> {
  const { records, latencyMs, rounds, withStagesApart, root } = options;
  const input = await lab.loadInput(records);
  const entrants = listEntrants(lab, root, withStagesApart);
  const runs = await interleave(entrants, { rounds }, async (entrant) => {
    lab.log(`whole path, ${records} records, ${latencyMs} ms: ${entrant.title}`);
    return entrant.run(lab, { input, latencyMs, cores: 1 });
  });
  const byKey = new Map(entrants.map(({ key }, index) => [key, runs[index] ?? []]));
  const title = `WHOLE PATH, ${records.toLocaleString('en-US')} records, ${latencyMs} ms`;
  return {
    tables: [toTable(title, entrants, byKey, Math.round(input.bytes / records))],
    problems: listOwnProblems(entrants, byKey, title),
  };
}

function listEntrants({ against, peers }: Lab, root: string, withStagesApart: boolean): Entrant[] {
  const all: Entrant[] = [
    createBackhaul('backhaul', 'Backhaul run, with Redis', { root }),
    ...(against === undefined
      ? []
      : [createBackhaul('against', `Backhaul run of ${against}`, { root: against })]),
    ...(withStagesApart ? [createScript('parts', 'Backhaul without a queue')] : []),
    createScript(DOCUMENTED, 'posthog-node as documented', { peer: true }),
    createScript(AWAITED, 'posthog-node, flush awaited', { peer: true }),
    createScript('mixpanel-import', 'mixpanel-import', { peer: true }),
    createScript('naive', 'naive loop: readline, fetch, no gzip'),
    ...(withStagesApart
      ? [
          createScript('gunzip', 'ceiling: gunzip, lines'),
          createScript('parse', 'ceiling: … JSON.parse'),
          createScript(CEILING, 'ceiling: … stringify, gzip'),
        ]
      : []),
  ];
  return all.filter(({ peer }) => !peer || peers.folder !== undefined);
}

type RunsByKey = ReadonlyMap<string, readonly Run[]>;

function toTable(title: string, entrants: readonly Entrant[], runs: RunsByKey, recordBytes: number): Table {
  const [baseKey, base] = chooseBase(runs);
  const ceiling = toMicros(runs.get(CEILING) ?? []);
  const toCosts = (micros: readonly number[]): Row['cells'] => ({
    timesDocumented: compare(base, micros),
    timesCeiling: compare(ceiling, micros),
    micros: toSpread(micros),
    perCpuSecond: toSpread(micros.map((each) => 1e6 / each)),
  });
  const rows = entrants.flatMap(({ key, title: name }): Row[] => {
    const of = runs.get(key) ?? [];
    const measured = {
      ...toCosts(toMicros(of)),
      perSecond: toSpread(toRates(of)),
      peakMb: toSpread(toPeaks(of)),
      arrived: describeProblems(of) ?? describeArrival(of),
    };
    if (key !== 'parts') return [{ name, cells: measured }];
    const phase = (label: string, of_: string): Row => ({
      name: `  ${label}`,
      cells: toCosts(of.flatMap((run) => toPhase(run, of_))),
    });
    return [
      { name, cells: measured },
      phase('of it staging', 'stage'),
      phase('of it map and deliver', 'import'),
    ];
  });
  return {
    section: 'whole-path',
    title,
    columns: [
      { key: 'timesDocumented', head: '× documented', format: 'ratio' },
      { key: 'timesCeiling', head: '× ceiling', format: 'ratio' },
      { key: 'micros', head: 'CPU µs/record', format: 'micros' },
      { key: 'perCpuSecond', head: 'records/CPU s', format: 'whole' },
      { key: 'perSecond', head: 'records/s', format: 'whole' },
      { key: 'peakMb', head: 'peak MB', format: 'whole' },
      { key: 'arrived', head: 'arrived', format: 'text' },
    ],
    rows: rows.map((row) => ({ ...row, cells: dropUndefined(row.cells) })),
    notes: [
      `One core; records of ${recordBytes} bytes. × documented and × ceiling: more is cheaper than they are.`,
      ...(baseKey === AWAITED
        ? ['The documented script lost events, so ratios are to it with an awaited flush.']
        : []),
    ],
  };
}

/** A script that lost events has not done the work that others are compared with. */
function chooseBase(runs: RunsByKey): readonly [string, readonly number[]] {
  const documented = runs.get(DOCUMENTED) ?? [];
  const key = documented.some(({ problems }) => problems.length > 0) ? AWAITED : DOCUMENTED;
  return [key, toMicros(runs.get(key) ?? [])];
}

const toPhase = ({ phases, records }: Run, name: string): number[] => {
  const cost = phases?.[name];
  return cost === undefined ? [] : [(cost.cpuMs * 1000) / records];
};

const describeArrival = ([run]: readonly Run[]): string => (run === undefined || run.sent === 0 ? '' : 'all');
