import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { buildApi } from '../src/server/app.ts';
import { createKey } from '../src/server/auth/keys.ts';
import { createPgliteDb } from '../src/server/database/pglite.ts';
import { createPoolDb } from '../src/server/database/pool.ts';
import { readTree } from './lab/process-tree.ts';
import { type BenchQuestion, listQuestions, SAVED } from './questions/list-questions.ts';
import { loadHistory } from './questions/load-history.ts';

/**
 * `run-questions load <database> <events>` makes a history; `run-questions ask <database> <rounds>` asks the API about
 * it and prints how long each answer took, as JSON. The database is a URL, or a folder of an embedded one. Options:
 *
 * - `--pid`: of the server, whose CPU time counts;
 * - `--limit`: how many seconds the database may work on a question, instead of those that the API lets it;
 * - `--warm`: asks each question once before it is measured;
 * - `--words`: asks only those with these words in their names.
 */
export interface AskedQuestion {
  readonly name: string;
  /** One a round, up to the first that failed. */
  readonly seconds: readonly number[];
  /** CPU time of the API and of the database. */
  readonly cpuSeconds: readonly number[];
  readonly bytes: number;
  /** Why there is no answer. */
  readonly failure?: string;
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    pid: { type: 'string', default: '' },
    limit: { type: 'string' },
    warm: { type: 'boolean', default: false },
    words: { type: 'string', default: '' },
  },
});
const [mode = '', database = '', number = ''] = positionals;
const { pid: serverPid, warm, words } = values;
const questionLimitMs = values.limit === undefined ? undefined : Number(values.limit) * 1000;
/** Of ten seconds each, beyond those that the database may work. */
const MOST_TRIES = 10 + (questionLimitMs ?? 0) / 10_000;
const PENDING = 'It is being computed';
const silent = pino({ level: 'silent' });
const log = (line: string) => void process.stderr.write(`${line}\n`);
const isServer = database.startsWith('postgres');
// A statement may take as long as the database may work on it.
const answerWithin = questionLimitMs === undefined ? {} : { answerWithinMs: questionLimitMs };
const db = isServer ? createPoolDb(database, silent, answerWithin) : createPgliteDb(database);
try {
  if (mode === 'load') await load(Number(number));
  else process.stdout.write(`${JSON.stringify(await ask(Number(number)))}\n`);
} finally {
  await db.close();
}

async function load(events: number): Promise<void> {
  if (!isServer) rmSync(database, { recursive: true, force: true });
  await loadHistory(db, events, log, isServer ? database : undefined);
  await db.query('vacuum analyze');
}

async function ask(rounds: number): Promise<AskedQuestion[]> {
  let app = buildApi({ db, log: silent, questionLimitMs });
  const { token } = await createKey(db, { label: 'bench', scopes: ['*'] });
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await app.request(`/api/projects/@current/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  };
  const asked: AskedQuestion[] = [];
  const make = async (path: string, body: object): Promise<number> => {
    const { status, text } = await call('POST', path, body);
    if (status !== 201) throw new Error(`${path}: ${text}`);
    return (JSON.parse(text) as { id: number }).id;
  };
  const questions = listQuestions({
    action: await make('actions/', SAVED.action),
    cohort: await make('cohorts/', SAVED.cohort),
    doers: await make('cohorts/', SAVED.doers),
  });
  for (const question of questions.filter(({ name }) => name.includes(words))) {
    const path = await toPath(question, call);
    const seconds: number[] = [];
    const cpuSeconds: number[] = [];
    let bytes = 0;
    let failure: string | undefined;
    if (warm) await getAnswer(path, call);
    for (let round = 0; round < rounds && failure === undefined; round++) {
      // It keeps no results yet: one that does answers after ten seconds with what it computed before.
      app = buildApi({ db, log: silent, questionLimitMs });
      const [start, startCpu] = [performance.now(), readCpuMs()];
      const { status, text } = await getAnswer(path, call);
      seconds.push((performance.now() - start) / 1000);
      cpuSeconds.push((readCpuMs() - startCpu) / 1000);
      failure = findFailure(status, text);
      bytes = Buffer.byteLength(text);
    }
    asked.push({
      name: question.name,
      seconds,
      cpuSeconds,
      bytes,
      ...(failure === undefined ? {} : { failure }),
    });
    const render = (values: readonly number[]) => values.map((value) => value.toFixed(2)).join(' ');
    log(
      `${question.name}: ${render(seconds)} s, CPU ${render(cpuSeconds)} s, ${bytes} bytes ${failure ?? ''}`,
    );
  }
  return asked;
}

function readCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 + (serverPid === '' ? 0 : (readTree(Number(serverPid))?.cpuMs ?? 0));
}

type CallApi = (method: string, path: string, body?: unknown) => Promise<{ status: number; text: string }>;

async function toPath({ filters, path = '', query = {} }: BenchQuestion, call: CallApi): Promise<string> {
  if (filters !== undefined) {
    const { text } = await call('POST', 'insights/', { filters });
    return `insights/${(JSON.parse(text) as { id: number }).id}/?refresh=true`;
  }
  const entries = Object.entries(query).map(([key, value]): [string, string] => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return `${path}?${new URLSearchParams(entries).toString()}`;
}

/** What is not ready after ten seconds is asked for again, as a page does: the answer counts, however late. */
async function getAnswer(path: string, call: CallApi): Promise<{ status: number; text: string }> {
  let answer = await call('GET', path);
  for (let tries = 0; tries < MOST_TRIES && answer.text.includes(PENDING); tries++) {
    answer = await call('GET', path.replace('?refresh=true', ''));
  }
  return answer;
}

/** What takes too long is no error of the insight's endpoint, which says so in its body. */
function findFailure(status: number, text: string): string | undefined {
  if (status !== 200) return `${status}: ${text.slice(0, 200)}`;
  if (!text.startsWith('{')) return undefined;
  const { error } = JSON.parse(text) as { error?: { message: string } };
  return error?.message;
}
