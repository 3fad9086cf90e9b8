import { join } from 'node:path';
import type { Row, SectionResult } from '../figures.ts';
import { createDatabase } from '../lab/databases.ts';
import type { Lab } from '../lab/lab.ts';
import { startPostgres } from '../lab/postgres.ts';
import { askQuestions, loadQuestions } from '../questions/run-script.ts';
import type { AskedQuestion } from '../run-questions.ts';
import { dropUndefined, toSpread } from './spreads.ts';

export interface QuestionsOptions {
  readonly events: number;
  readonly rounds: number;
  /** How long the database may work on a question, in seconds. @default what the API lets it */
  readonly limitS?: number;
}

/** What no answer may take, in seconds. */
const LIMIT_S = { PostgreSQL: 3, embedded: 10 } as const;
type Title = keyof typeof LIMIT_S;

/** Insights, lists of persons and pages over a history that the database made, on both databases. */
export async function measureQuestions(
  lab: Lab,
  { events, rounds, limitS }: QuestionsOptions,
): Promise<SectionResult> {
  const postgres = await startPostgres([]);
  const rows: Row[] = [];
  const problems: string[] = [];
  try {
    if (postgres !== undefined) {
      await take('PostgreSQL', await createDatabase(postgres, 'questions'), postgres.pid);
    }
    await take('embedded', join(await lab.createFolder('questions'), 'database'));
  } finally {
    await postgres?.stop();
  }

  async function take(title: Title, database: string, pid?: number): Promise<void> {
    lab.log(`questions, ${events} events: ${title}`);
    const problem = (await loadQuestions(database, events)) ?? (await askAll(title, database, pid));
    if (problem !== undefined) problems.push(`questions, ${title}: ${problem}`);
  }

  async function askAll(title: Title, database: string, pid?: number): Promise<string | undefined> {
    const { asked, peakMb, problem } = await askQuestions(database, { rounds, pid, limitS });
    rows.push(...asked.map((question) => toRow(title, question)));
    rows.push({
      name: `${title}: process of the API`,
      cells: dropUndefined({ peakMb: peakMb === undefined ? undefined : toSpread([peakMb]) }),
    });
    return problem;
  }

  return {
    tables: [
      {
        section: 'questions',
        title: `QUESTIONS, ${events.toLocaleString('en-US')} events of ${(events / 10).toLocaleString('en-US')} persons`,
        columns: [
          { key: 'seconds', head: 'seconds', format: 'seconds' },
          { key: 'cpuSeconds', head: 'CPU seconds', format: 'seconds' },
          { key: 'kb', head: 'answer kB', format: 'whole' },
          { key: 'peakMb', head: 'peak MB', format: 'whole' },
          { key: 'remark', head: '', format: 'text' },
        ],
        rows,
        notes: [
          ...(postgres === undefined
            ? ['There is no PostgreSQL here: put `postgres` and `initdb` on PATH.']
            : []),
          `Limits: ${LIMIT_S.PostgreSQL} s on PostgreSQL, ${LIMIT_S.embedded} s on the embedded database, for a million events.`,
        ],
      },
    ],
    problems,
  };
}

function toRow(title: Title, { name, seconds, cpuSeconds, bytes, failure }: AskedQuestion): Row {
  const slowest = Math.max(...seconds);
  const remark = failure ?? (slowest > LIMIT_S[title] ? `over ${LIMIT_S[title]} s` : undefined);
  return {
    name: `${title}: ${name}`,
    cells: dropUndefined({
      seconds: toSpread(seconds),
      cpuSeconds: toSpread(cpuSeconds),
      kb: toSpread([bytes / 1000]),
      remark,
    }),
  };
}
