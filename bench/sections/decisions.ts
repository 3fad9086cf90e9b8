import type { Row, SectionResult } from '../figures.ts';
import { type BenchApi, startApi } from '../lab/api.ts';
import type { Lab } from '../lab/lab.ts';
import { startService, toScriptPath } from '../lab/script.ts';
import { interleave } from '../rounds.ts';
import { askForDecisions, type LoadResult } from './decide-load.ts';
import { toSpread } from './spreads.ts';

export interface DecisionsOptions {
  readonly requests: number;
  readonly rounds: number;
  readonly root: string;
}

const FLAGS = 100;
const PERSONS = 1000;
const CLIENTS = 32;
/** Of the most that it answers: how long answers take under a load that it is meant for. */
const CALM_SHARE = 1 / 3;

interface Round {
  readonly decisions: LoadResult;
  /** Questions of which none was asked before. */
  readonly fresh: LoadResult;
  readonly calm: LoadResult;
  /** A handler that reads the body and returns a constant. */
  readonly constant: LoadResult;
  /** One that does not read it. */
  readonly unread: LoadResult;
}

/** The decision endpoint on the embedded database, beside a handler that returns a constant. */
export async function measureDecisions(lab: Lab, options: DecisionsOptions): Promise<SectionResult> {
  const { requests, rounds } = options;
  lab.log(`decisions, ${FLAGS} flags and ${PERSONS} persons`);
  const [runs = []] = await interleave(['decisions'], { rounds }, () => runRound(lab, options));
  const percentile = (result: LoadResult, share: number) =>
    result.latencies[Math.min(result.latencies.length - 1, Math.floor(result.latencies.length * share))] ?? 0;
  const row = (name: string, pick: (round: Round) => LoadResult): Row => ({
    name,
    cells: {
      perSecond: toSpread(runs.map((round) => pick(round).perSecond)),
      share: toSpread(runs.map((round) => pick(round).perSecond / round.constant.perSecond)),
      medianMs: toSpread(runs.map((round) => percentile(pick(round), 0.5))),
      p99Ms: toSpread(runs.map((round) => percentile(pick(round), 0.99))),
    },
  });
  const failed = runs.reduce(
    (sum, { decisions, fresh, calm }) => sum + decisions.failed + fresh.failed + calm.failed,
    0,
  );
  return {
    tables: [
      {
        section: 'decisions',
        title: `DECISIONS, ${FLAGS} flags, ${PERSONS.toLocaleString('en-US')} persons, ${requests.toLocaleString('en-US')} requests`,
        columns: [
          { key: 'perSecond', head: 'requests/s', format: 'whole' },
          { key: 'share', head: '× constant', format: 'ratio' },
          { key: 'medianMs', head: 'median ms', format: 'ratio' },
          { key: 'p99Ms', head: 'p99 ms', format: 'ratio' },
        ],
        rows: [
          row('a handler that reads the body and returns a constant', ({ constant }) => constant),
          row('one that leaves the body unread', ({ unread }) => unread),
          row(`/decide, ${CLIENTS} clients`, ({ decisions }) => decisions),
          row('/decide, no question twice', ({ fresh }) => fresh),
          row('/decide at a third of that rate', ({ calm }) => calm),
        ],
        notes: ['One process with the embedded database; the client runs on the other processor.'],
      },
    ],
    problems: failed === 0 ? [] : [`decisions: ${failed} requests failed`],
  };
}

async function runRound(lab: Lab, { requests, root }: DecisionsOptions): Promise<Round> {
  const load = { requests, clients: CLIENTS };
  const warmUp = Math.ceil(requests / 10);
  const constantServer = await startService([
    ...lab.pinning.contender(1),
    process.execPath,
    toScriptPath('lab/constant-server'),
  ]);
  await askForDecisions(constantServer.line, '', PERSONS, { ...load, requests: warmUp });
  const constant = await askForDecisions(constantServer.line, '', PERSONS, load);
  const unread = await askForDecisions(constantServer.line, '', PERSONS, { ...load, path: '/unread' });
  await constantServer.stop();

  const api = await startApi(lab, root, undefined);
  const { url, projectKey } = api;
  try {
    await prepare(api);
    await askForDecisions(url, projectKey, PERSONS, { ...load, requests: warmUp });
    const decisions = await askForDecisions(url, projectKey, PERSONS, load);
    const fresh = await askForDecisions(url, projectKey, PERSONS, { ...load, fresh: true });
    const rate = decisions.perSecond * CALM_SHARE;
    const calm = await askForDecisions(url, projectKey, PERSONS, { ...load, rate });
    return { decisions, fresh, calm, constant, unread };
  } finally {
    await api.stop();
  }
}

/** Persons with properties, and flags of every kind: shares, conditions, variants. */
async function prepare({ url, projectKey, personalKey }: BenchApi): Promise<void> {
  const batch = Array.from({ length: PERSONS }, (_, index) => ({
    event: '$set',
    timestamp: '2024-01-01T00:00:00Z',
    properties: {
      distinct_id: `person ${index}`,
      $set: { plan: index % 3 === 0 ? 'pro' : 'free', age: index % 80, email: `person${index}@example.com` },
    },
  }));
  await post(`${url}/batch/`, { api_key: projectKey, historical_migration: true, batch });
  const kinds = [
    { groups: [{ properties: [], rollout_percentage: 50 }] },
    { groups: [{ properties: [{ key: 'plan', value: 'pro', operator: 'exact', type: 'person' }] }] },
    {
      groups: [
        { properties: [{ key: 'age', value: 40, operator: 'gt', type: 'person' }], rollout_percentage: 30 },
      ],
    },
    {
      groups: [
        { properties: [{ key: 'email', value: '@example.com', operator: 'icontains', type: 'person' }] },
      ],
      multivariate: {
        variants: ['a', 'b'].map((key) => ({ key, rollout_percentage: 50 })),
      },
      payloads: { a: '{"colour":"red"}' },
    },
  ];
  for (let index = 0; index < FLAGS; index += 1) {
    const flag = { key: `flag-${index}`, filters: kinds[index % kinds.length] };
    await post(`${url}/api/projects/@current/feature_flags/`, flag, personalKey);
  }
}

async function post(url: string, body: object, personalKey?: string): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(personalKey === undefined ? {} : { authorization: `Bearer ${personalKey}` }),
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
}
