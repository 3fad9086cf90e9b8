import { join } from 'node:path';
import type { Row, SectionResult } from '../figures.ts';
import { createDatabase } from '../lab/databases.ts';
import type { Lab } from '../lab/lab.ts';
import { startPostgres } from '../lab/postgres.ts';
import { runMeasured } from '../lab/run-measured.ts';
import { toScriptPath } from '../lab/script.ts';
import type { AskedQuestion } from '../run-questions.ts';
import { dropUndefined, toSpread } from './spreads.ts';

export interface QuestionsOptions {
  readonly events: number;
  readonly rounds: number;
}

/** What no answer may take, in seconds. */
const LIMIT_S = { PostgreSQL: 3, embedded: 10 } as const;
type Title = keyof typeof LIMIT_S;

/** Insights, lists of persons and pages over a history that the database made, on both databases. */
export async function measureQuestions(
  lab: Lab,
  { events, rounds }: QuestionsOptions,
): Promise<SectionResult> {
  const postgres = await startPostgres([]);
  const rows: Row[] = [];
  const problems: string[] = [];
  try {
    if (postgres !== undefined) {
      await take('PostgreSQL', await createDatabase(postgres, 'questions'), String(postgres.pid));
    }
    await take('embedded', join(await lab.createFolder('questions'), 'database'), '');
  } finally {
    await postgres?.stop();
  }

  async function take(title: Title, database: string, pid: string): Promise<void> {
    lab.log(`questions, ${events} events: ${title}`);
    const run = async (...args: string[]) => {
      const node = [process.execPath, toScriptPath('run-questions')];
      const { code, stdout, stderr, peakMb } = await runMeasured([...node, ...args]);
      if (code !== 0) problems.push(`questions, ${title}: ${stderr.slice(-600)}`);
      return { text: code === 0 ? stdout : '', peakMb };
    };
    await run('load', database, String(events));
    const asked = await run('ask', database, String(rounds), pid);
    if (asked.text === '') return;
    rows.push(...(JSON.parse(asked.text) as AskedQuestion[]).map((question) => toRow(title, question)));
    rows.push({
      name: `${title}: process of the API`,
      cells: dropUndefined({
        peakMb: asked.peakMb === undefined ? undefined : toSpread([asked.peakMb]),
      }),
    });
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
