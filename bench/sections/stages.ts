import type { Row, SectionResult, Table } from '../figures.ts';
import type { Lab } from '../lab/lab.ts';
import { runMeasured } from '../lab/run-measured.ts';
import { toScriptPath } from '../lab/script.ts';
import type { StageTimes } from '../run-stages.ts';
import { REFERENCE } from '../stages.ts';
import { compare, dropUndefined, toSpread } from './spreads.ts';

/** Garbage is collected before each stage, on the same thread: otherwise the next stage would pay for it. */
const FLAGS = ['--expose-gc', '--single-threaded-gc'];
const BUDGET_MS = 60_000;

/** Each stage alone, over the same records, in one process. */
export async function measureStages(
  lab: Lab,
  { records, rounds }: { readonly records: number; readonly rounds: number },
): Promise<SectionResult> {
  const input = await lab.loadInput(records);
  lab.log(`stages, ${records} records`);
  const node = [...lab.pinning.contender(1), process.execPath, ...FLAGS, toScriptPath('run-stages')];
  const { code, stdout, stderr } = await runMeasured([
    ...node,
    input.path,
    String(rounds),
    String(BUDGET_MS),
  ]);
  if (code !== 0) return { tables: [], problems: [`stages ended with ${code}: ${stderr.slice(-600)}`] };
  return { tables: [toStagesTable(JSON.parse(stdout) as StageTimes[], records)], problems: [] };
}

export function toStagesTable(times: readonly StageTimes[], records: number): Table {
  const rows = times.map(({ source, name, records: of, cpuMs }): Row => {
    const reference = times.find((other) => other.source === source && other.name === REFERENCE);
    return {
      name: `${source}: ${name}`,
      cells: dropUndefined({
        timesParse: compare(cpuMs, reference?.cpuMs ?? []),
        micros: toSpread(cpuMs.map((each) => (each * 1000) / of)),
      }),
    };
  });
  return {
    section: 'stages',
    title: `STAGES, ${records.toLocaleString('en-US')} records`,
    columns: [
      { key: 'timesParse', head: '× JSON.parse', format: 'ratio' },
      { key: 'micros', head: 'CPU µs/record', format: 'micros' },
    ],
    rows,
    notes: ['Less is faster. 1.00 is JSON.parse of the same records.'],
  };
}
