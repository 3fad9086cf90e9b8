import type { Row, SectionResult } from '../figures.ts';
import type { Lab } from '../lab/lab.ts';
import { createBackhaul, type Run } from './contenders.ts';
import { describeProblems, listOwnProblems } from './problems.ts';
import { dropUndefined, toMicros, toPeaks, toSpread } from './spreads.ts';

/** Resident memory of Backhaul over inputs of growing size, once each. */
export async function measureMemory(
  lab: Lab,
  { sizes, root }: { readonly sizes: readonly number[]; readonly root: string },
): Promise<SectionResult> {
  const entrant = createBackhaul('backhaul', 'Backhaul run', { root });
  const rows: Row[] = [];
  const all: Run[] = [];
  for (const records of sizes) {
    const input = await lab.loadInput(records);
    lab.log(`memory, ${records} records`);
    const run = await entrant.run(lab, { input, latencyMs: 0, cores: 2 });
    all.push(run);
    rows.push({
      name: `${records.toLocaleString('en-US')} records`,
      cells: dropUndefined({
        peakMb: toSpread(toPeaks([run])),
        times: toSpread(toPeaks([run]).map((peak) => peak / (all[0]?.peakMb ?? peak))),
        micros: toSpread(toMicros([run])),
        arrived: describeProblems([run]) ?? 'all',
      }),
    });
  }
  return {
    tables: [
      {
        section: 'memory',
        title: 'MEMORY of a run',
        columns: [
          { key: 'peakMb', head: 'peak MB', format: 'whole' },
          { key: 'times', head: '× the first', format: 'ratio' },
          { key: 'micros', head: 'CPU µs/record', format: 'micros' },
          { key: 'arrived', head: 'arrived', format: 'text' },
        ],
        rows,
      },
    ],
    problems: listOwnProblems([entrant], new Map([[entrant.key, all]]), 'memory'),
  };
}
