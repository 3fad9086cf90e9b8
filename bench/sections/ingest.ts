import type { Row, SectionResult } from '../figures.ts';
import { startApi } from '../lab/api.ts';
import { createDatabase } from '../lab/databases.ts';
import type { Lab } from '../lab/lab.ts';
import { type BenchPostgres, startPostgres } from '../lab/postgres.ts';
import { readTree } from '../lab/process-tree.ts';
import { interleave } from '../rounds.ts';
import { createSingles, sendBatches, sendSingles } from './ingest-load.ts';
import { dropUndefined, toSpread } from './spreads.ts';

export interface IngestOptions {
  readonly events: number;
  readonly rounds: number;
  readonly root: string;
}

const CLIENTS = 16;
/** Some seconds: a rate of the first second would be that of code which is not compiled yet. */
const SINGLES = 10_000;

interface Database {
  readonly title: string;
  readonly kind: 'postgres' | 'embedded';
  readonly root: string;
}

interface IngestRun {
  readonly phases: readonly PhaseCost[];
  readonly peakMb: number | undefined;
  readonly problems: readonly string[];
}

interface PhaseCost {
  readonly title: string;
  readonly events: number;
  readonly wallMs: number;
  readonly apiMs: number | undefined;
  readonly databaseMs: number | undefined;
}

/** The bundled API on both databases: batches as an import sends them, and single captures of many clients. */
export async function measureIngest(lab: Lab, options: IngestOptions): Promise<SectionResult> {
  const postgres = await startPostgres(lab.pinning.others);
  try {
    return await measureDatabases(lab, options, postgres);
  } finally {
    await postgres?.stop();
  }
}

async function measureDatabases(
  lab: Lab,
  { events, rounds, root }: IngestOptions,
  postgres: BenchPostgres | undefined,
): Promise<SectionResult> {
  const roots = [root, ...(lab.against === undefined ? [] : [lab.against])];
  const kinds = postgres === undefined ? (['embedded'] as const) : (['postgres', 'embedded'] as const);
  const databases = roots.flatMap((of) =>
    kinds.map((kind): Database => {
      const name = kind === 'postgres' ? 'PostgreSQL' : 'embedded database';
      return { kind, root: of, title: of === root ? name : `${name}, ${of}` };
    }),
  );
  let count = 0;
  const runs = await interleave(databases, { rounds }, async (database) => {
    lab.log(`ingestion, ${events} events: ${database.title}`);
    count += 1;
    const url = postgres === undefined ? undefined : await createDatabase(postgres, `bench_${count}`);
    return runDatabase(lab, database, events, database.kind === 'postgres' ? url : undefined, postgres?.pid);
  });
  const rows = databases.flatMap(({ title }, index) => toRows(title, runs[index] ?? []));
  return {
    tables: [
      {
        section: 'ingest',
        title: `INGESTION, ${events.toLocaleString('en-US')} events`,
        columns: [
          { key: 'apiMicros', head: 'API CPU µs/event', format: 'micros' },
          { key: 'databaseMicros', head: 'server CPU µs/event', format: 'micros' },
          { key: 'perSecond', head: 'events/s', format: 'whole' },
          { key: 'peakMb', head: 'peak MB', format: 'whole' },
        ],
        rows,
        notes: [
          ...(postgres === undefined
            ? ['There is no PostgreSQL here: put `postgres` and `initdb` on PATH.']
            : []),
          'The API runs on processor 0, the PostgreSQL server with its own defaults beside the client.',
        ],
      },
    ],
    problems: runs.flat().flatMap(({ problems }) => problems),
  };
}

function toRows(title: string, runs: readonly IngestRun[]): Row[] {
  const phases = runs[0]?.phases ?? [];
  return phases.map(({ title: phase }, at): Row => {
    const of = runs.flatMap((run) => run.phases[at] ?? []);
    const perEvent = (read: (cost: PhaseCost) => number | undefined) =>
      toSpread(
        of.flatMap((cost) => {
          const ms = read(cost);
          return ms === undefined ? [] : (ms * 1000) / cost.events;
        }),
      );
    return {
      name: `${title}: ${phase}`,
      cells: dropUndefined({
        apiMicros: perEvent(({ apiMs }) => apiMs),
        databaseMicros: perEvent(({ databaseMs }) => databaseMs),
        perSecond: toSpread(of.map(({ events, wallMs }) => (events * 1000) / wallMs)),
        peakMb: at === phases.length - 1 ? toSpread(runs.flatMap(({ peakMb }) => peakMb ?? [])) : undefined,
      }),
    };
  });
}

async function runDatabase(
  lab: Lab,
  { title, root }: Database,
  events: number,
  databaseUrl: string | undefined,
  databasePid: number | undefined,
): Promise<IngestRun> {
  const api = await startApi(lab, root, databaseUrl);
  const { url, pid } = api;
  try {
    const measure = async (phase: string, events: number, send: () => Promise<void>): Promise<PhaseCost> => {
      const before = readTree(pid)?.cpuMs;
      const server = databasePid === undefined || !databaseUrl ? undefined : readTree(databasePid)?.cpuMs;
      const startedMs = performance.now();
      await send();
      const wallMs = performance.now() - startedMs;
      return {
        title: phase,
        events,
        wallMs,
        apiMs: subtract(readTree(pid)?.cpuMs, before),
        databaseMs:
          server === undefined || databasePid === undefined
            ? undefined
            : subtract(readTree(databasePid)?.cpuMs, server),
      };
    };
    const singles = createSingles(api.projectKey, { seed: 3, events: SINGLES });
    const phases = [
      await measure('batches of 1,000', events, () => sendBatches(url, api.projectKey, { seed: 1, events })),
      await measure('… with long digits in 1 event of 100', events, () =>
        sendBatches(url, api.projectKey, { seed: 2, events, longDigits: true }),
      ),
      await measure(`single captures, ${CLIENTS} clients`, SINGLES, () => sendSingles(url, singles, CLIENTS)),
    ];
    const stored = await countStored(url, api.personalKey);
    const sent = phases.reduce((sum, phase) => sum + phase.events, 0);
    const problems =
      stored === sent ? [] : [`ingestion, ${title}: sent ${sent} events, ${stored} are stored`];
    return { phases, peakMb: readTree(pid)?.peakMb, problems };
  } finally {
    await api.stop();
  }
}

const subtract = (after: number | undefined, before: number | undefined): number | undefined =>
  after === undefined || before === undefined ? undefined : after - before;

async function countStored(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/api/projects/1/event_counts/`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return ((await response.json()) as { total: number }).total;
}
