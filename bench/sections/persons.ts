import type { Row, SectionResult } from '../figures.ts';
import type { Lab } from '../lab/lab.ts';
import { interleave } from '../rounds.ts';
import { createBackhaul, createScript, type Entrant, type Run } from './contenders.ts';
import { describeProblems, listOwnProblems } from './problems.ts';
import { compare, dropUndefined, toMicros, toPeaks, toSpread } from './spreads.ts';

const RECORDS_A_PERSON = 3;

/** Backhaul and the documented script where every third record is a new person, and where few are. */
export async function measurePersons(
  lab: Lab,
  { records, rounds, root }: { readonly records: number; readonly rounds: number; readonly root: string },
): Promise<SectionResult> {
  const many = await lab.loadInput(records, RECORDS_A_PERSON);
  const few = await lab.loadInput(records);
  const over = (entrant: Entrant, key: string, title: string, input: typeof many) => ({
    ...entrant,
    key,
    title,
    input,
  });
  const backhaul = createBackhaul('backhaul', '', { root });
  const documented = createScript('documented', '', { peer: true });
  const entrants = [
    over(backhaul, 'many', 'Backhaul, every third record a new person', many),
    over(backhaul, 'few', 'Backhaul, a person in 150 records', few),
    ...(lab.against === undefined
      ? []
      : [
          over(
            createBackhaul('', '', { root: lab.against }),
            'against',
            `of ${lab.against}, every third`,
            many,
          ),
        ]),
    ...(lab.peers.folder === undefined
      ? []
      : [over(documented, 'documented', 'posthog-node as documented, every third', many)]),
  ];
  const runs = await interleave(entrants, { rounds }, async (entrant) => {
    lab.log(`persons, ${records} records: ${entrant.title}`);
    return entrant.run(lab, { input: entrant.input, latencyMs: 0, cores: 1 });
  });
  const byKey = new Map(entrants.map(({ key }, index): [string, readonly Run[]] => [key, runs[index] ?? []]));
  const base = toMicros(byKey.get('documented') ?? []);
  const fewMicros = toMicros(byKey.get('few') ?? []);
  const toPersonMicros = (micros: readonly number[]) =>
    micros.flatMap((each, round) => {
      const without = fewMicros[round];
      return without === undefined ? [] : ((each - without) * records) / (many.persons - few.persons);
    });
  const rows = entrants.map(({ key, title, input, own }): Row => {
    const of = byKey.get(key) ?? [];
    const micros = toMicros(of);
    return {
      name: title,
      cells: dropUndefined({
        persons: input.persons.toLocaleString('en-US'),
        timesDocumented: input === many ? compare(base, micros) : undefined,
        micros: toSpread(micros),
        person: own && input === many ? toSpread(toPersonMicros(micros)) : undefined,
        peakMb: toSpread(toPeaks(of)),
        arrived: describeProblems(of) ?? 'all',
      }),
    };
  });
  const title = `PERSONS, ${records.toLocaleString('en-US')} records`;
  return {
    tables: [
      {
        section: 'persons',
        title,
        columns: [
          { key: 'persons', head: 'persons', format: 'text' },
          { key: 'timesDocumented', head: '× documented', format: 'ratio' },
          { key: 'micros', head: 'CPU µs/record', format: 'micros' },
          { key: 'person', head: 'CPU µs/person', format: 'micros' },
          { key: 'peakMb', head: 'peak MB', format: 'whole' },
          { key: 'arrived', head: 'arrived', format: 'text' },
        ],
        rows,
        notes: ['µs a person: what the same number of records costs more with so many persons.'],
      },
    ],
    problems: listOwnProblems(entrants, byKey, title),
  };
}
