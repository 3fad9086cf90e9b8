import { runMeasured } from '../lab/run-measured.ts';
import { toScriptPath } from '../lab/script.ts';
import type { AskedQuestion } from '../run-questions.ts';

/** Makes a history in an empty database. Returns why there is none. */
export async function loadQuestions(database: string, events: number): Promise<string | undefined> {
  return (await run(['load', database, String(events)])).problem;
}

export interface AskOptions {
  readonly rounds: number;
  /** Of the server, whose CPU time counts. @default none */
  readonly pid?: number | undefined;
  /** How long the database may work on a question, in seconds. @default what the API lets it */
  readonly limitS?: number | undefined;
  /** Whether each question is asked once before it is measured. @default false */
  readonly isWarm?: boolean;
}

export interface Answers {
  /** None where there is a problem. */
  readonly asked: readonly AskedQuestion[];
  /** Of the process of the API. */
  readonly peakMb: number | undefined;
  readonly problem?: string;
}

/** Asks every question about a history, in a process of its own. */
export async function askQuestions(
  database: string,
  { rounds, pid, limitS, isWarm = false }: AskOptions,
): Promise<Answers> {
  const { stdout, peakMb, problem } = await run([
    ...['ask', database, String(rounds)],
    ...(pid === undefined ? [] : ['--pid', String(pid)]),
    ...(limitS === undefined ? [] : ['--limit', String(limitS)]),
    ...(isWarm ? ['--warm'] : []),
  ]);
  if (problem !== undefined) return { asked: [], peakMb, problem };
  return { asked: JSON.parse(stdout) as AskedQuestion[], peakMb };
}

async function run(args: readonly string[]) {
  const { code, stdout, stderr, peakMb } = await runMeasured([
    process.execPath,
    toScriptPath('run-questions'),
    ...args,
  ]);
  return { stdout, peakMb, ...(code === 0 ? {} : { problem: stderr.slice(-600) }) };
}
