import { resolve } from 'node:path';
import type { Row, SectionResult, Table } from '../figures.ts';
import { makeOnce } from '../lab/databases.ts';
import type { Lab } from '../lab/lab.ts';
import { startPostgres } from '../lab/postgres.ts';
import { askQuestions, loadQuestions } from '../questions/run-script.ts';
import type { AskedQuestion } from '../run-questions.ts';
import { compare, dropUndefined, toSpread } from './spreads.ts';

export interface GrowthOptions {
  readonly events: number;
  readonly rounds: number;
  /** How long the database may work on a question, in seconds. */
  readonly limitS: number;
  /** Where the histories are kept. @default nowhere */
  readonly folder: string | undefined;
}

/** How many times as many events the larger history has. */
const TIMES = 10;
/** Growth beyond it gets a remark. */
const LINEAR = TIMES * 1.1;
/** CPU time comes in steps of 10 ms: the ratio of less than this says nothing. */
const LEAST_CPU_S = 0.05;

/** The same questions over a history on PostgreSQL and over one with a tenth of its events, with warm caches. */
export async function measureGrowth(lab: Lab, options: GrowthOptions): Promise<SectionResult> {
  const { events, rounds, limitS, folder } = options;
  const postgres = await startPostgres([], folder === undefined ? undefined : resolve(folder));
  if (postgres === undefined)
    return { tables: [], problems: ['growth: put `postgres` and `initdb` on PATH'] };
  const problems: string[] = [];
  const ask = async (size: number): Promise<readonly AskedQuestion[]> => {
    lab.log(`growth, ${size} events`);
    const make = async (database: string) => {
      const problem = await loadQuestions(database, size);
      if (problem !== undefined) throw new Error(`growth, ${size} events: ${problem}`);
    };
    const database = await makeOnce(postgres, `history_${size}`, make);
    const { asked, problem } = await askQuestions(database, {
      ...{ rounds, limitS, pid: postgres.pid, isWarm: true },
    });
    if (problem !== undefined) problems.push(`growth, ${size} events: ${problem}`);
    return asked;
  };
  try {
    const fewer = await ask(Math.round(events / TIMES));
    const all = await ask(events);
    return { tables: [toTable(options, fewer, all)], problems };
  } finally {
    await postgres.stop();
  }
}

function toTable(
  { events, limitS }: GrowthOptions,
  fewer: readonly AskedQuestion[],
  all: readonly AskedQuestion[],
): Table {
  const sizes = [events / TIMES, events].map((size) => `${(size / 1e6).toLocaleString('en-US')} M`);
  const [small = '', large = ''] = sizes;
  return {
    section: 'growth',
    title: `GROWTH, ${events.toLocaleString('en-US')} events of ${(events / 10).toLocaleString('en-US')} persons on PostgreSQL`,
    columns: [
      { key: 'fewerSeconds', head: `s, ${small}`, format: 'seconds' },
      { key: 'fewerCpu', head: `CPU s, ${small}`, format: 'seconds' },
      { key: 'seconds', head: `s, ${large}`, format: 'seconds' },
      { key: 'cpu', head: `CPU s, ${large}`, format: 'seconds' },
      { key: 'times', head: '× s', format: 'ratio' },
      { key: 'timesCpu', head: '× CPU s', format: 'ratio' },
      { key: 'remark', head: '', format: 'text' },
    ],
    rows: all.map((question) =>
      toRow(
        question,
        fewer.find(({ name }) => name === question.name),
      ),
    ),
    notes: [
      `Warm caches; the database may work ${limitS} s on a question, where the API lets it work 10 s. Ten times as many events of ten times as many persons: × 10 is linear.`,
    ],
  };
}

function toRow(all: AskedQuestion, fewer: AskedQuestion | undefined): Row {
  const timesCpu = compare(all.cpuSeconds, fewer?.cpuSeconds ?? []);
  const isMeasurable = Math.min(...(fewer?.cpuSeconds ?? [0])) >= LEAST_CPU_S;
  const isSteeper = isMeasurable && timesCpu !== undefined && timesCpu.median > LINEAR;
  return {
    name: all.name,
    cells: dropUndefined({
      fewerSeconds: toSpread(fewer?.seconds ?? []),
      fewerCpu: toSpread(fewer?.cpuSeconds ?? []),
      seconds: toSpread(all.seconds),
      cpu: toSpread(all.cpuSeconds),
      times: compare(all.seconds, fewer?.seconds ?? []),
      timesCpu: isMeasurable ? timesCpu : undefined,
      remark: all.failure ?? fewer?.failure ?? (isSteeper ? 'more than linear' : undefined),
    }),
  };
}
