import type { Row, SectionResult } from '../figures.ts';
import type { Lab } from '../lab/lab.ts';
import { interleave } from '../rounds.ts';
import { createBackhaul, type Entrant, type Run } from './contenders.ts';
import { describeProblems, listOwnProblems } from './problems.ts';
import { compare, dropUndefined, toMicros, toPeaks, toRates, toSpread } from './spreads.ts';

/** The speed of an approved migration: 300,000 events a minute. */
const APPROVED_A_MINUTE = 300_000;

interface Case {
  readonly entrant: Entrant;
  readonly cores: number;
}

/** One core and two, one process and two, and a limit of 5,000 events a second. */
export async function measureCores(
  lab: Lab,
  { records, rounds, root }: { readonly records: number; readonly rounds: number; readonly root: string },
): Promise<SectionResult> {
  const input = await lab.loadInput(records);
  const alone = (key: string, title: string, cores: number): Case => ({
    entrant: createBackhaul(key, title, { root }),
    cores,
  });
  const cases: Case[] = [
    alone('one', 'run, 1 core', 1),
    alone('two', 'run, 2 cores', 2),
    { entrant: createBackhaul('pair', 'run and a worker, 2 cores', { root, workers: 1 }), cores: 2 },
    {
      entrant: createBackhaul('held', 'run, 2 cores, 5,000 events/s', {
        root,
        eventsPerMinute: APPROVED_A_MINUTE,
      }),
      cores: 2,
    },
  ];
  const runs = await interleave(cases, { rounds }, async ({ entrant, cores }) => {
    lab.log(`cores, ${records} records: ${entrant.title}`);
    return entrant.run(lab, { input, latencyMs: 0, cores });
  });
  const byKey = new Map(
    cases.map(({ entrant }, index): [string, readonly Run[]] => [entrant.key, runs[index] ?? []]),
  );
  const one = toRates(byKey.get('one') ?? []);
  const rows = cases.map(({ entrant: { key, title } }): Row => {
    const of = byKey.get(key) ?? [];
    const speed = toRates(of);
    return {
      name: title,
      cells: dropUndefined({
        speedUp: compare(speed, one),
        perSecond: toSpread(speed),
        micros: toSpread(toMicros(of)),
        busy: toSpread(of.map(({ cpuMs, wallMs }) => cpuMs / wallMs)),
        peakMb: toSpread(toPeaks(of)),
        arrived: describeProblems(of) ?? 'all',
      }),
    };
  });
  const title = `CORES, ${records.toLocaleString('en-US')} records`;
  return {
    tables: [
      {
        section: 'cores',
        title,
        columns: [
          { key: 'speedUp', head: '× speed of 1 core', format: 'ratio' },
          { key: 'perSecond', head: 'records/s', format: 'whole' },
          { key: 'micros', head: 'CPU µs/record', format: 'micros' },
          { key: 'busy', head: 'cores busy', format: 'ratio' },
          { key: 'peakMb', head: 'peak MB', format: 'whole' },
          { key: 'arrived', head: 'arrived', format: 'text' },
        ],
        rows,
        notes: [
          'Speed is by the clock and includes the start, so it needs a quiet machine and many records.',
        ],
      },
    ],
    problems: listOwnProblems(
      cases.map(({ entrant }) => entrant),
      byKey,
      title,
    ),
  };
}
