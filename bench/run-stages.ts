import type { PartRecord } from '../src/contract/part.ts';
import { readRecords } from '../src/sources/formats/read-records.ts';
import { measure } from './lab/measure.ts';
import { interleave } from './rounds.ts';
import { openSource } from './sample-input.ts';
import { amplitudeRecords, otherSources } from './source-records.ts';
import { createSharedStages, createSourceStages } from './stages.ts';

/** `run-stages <input> <rounds> <budget in ms>`: the CPU time of each stage, round by round, as JSON. */
export interface StageTimes {
  readonly source: string;
  readonly name: string;
  readonly records: number;
  readonly cpuMs: readonly number[];
}

const [path = '', rounds = '', budgetMs = ''] = process.argv.slice(2);
const records: PartRecord[] = [];
for await (const chunk of readRecords(await openSource(path), {})) records.push(...chunk.records);
const amplitude = amplitudeRecords(records);
const [reference, ...own] = createSourceStages(amplitude);
const stages = [
  ...(reference ? [reference] : []),
  ...(await createSharedStages(path, amplitude)),
  ...own,
  ...otherSources(amplitude).flatMap(createSourceStages),
];

// One run to let the engine compile the code that is measured.
for (const { run } of stages) await run();
const limits = { rounds: Number(rounds), budgetMs: Number(budgetMs) };
const costs = await interleave(stages, limits, async ({ run }) => {
  // The garbage of one stage must not be collected at the next one's expense.
  globalThis.gc?.();
  return measure(run);
});
const times = stages.map(
  ({ source, name, records }, index): StageTimes => ({
    source,
    name,
    records,
    cpuMs: (costs[index] ?? []).map(({ cpuMs }) => cpuMs),
  }),
);
process.stdout.write(`${JSON.stringify(times)}\n`);
