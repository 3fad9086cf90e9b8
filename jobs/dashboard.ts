import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Queue } from 'bullmq';
import { type Context, Hono } from 'hono';
import type { Redis } from 'ioredis';
import type { Logger } from '../src/lib/logger.ts';
import { connectToAsk } from '../src/lib/redis/connect-redis.ts';
import { DELETION_JOB, type JobName, type Payload, QUEUE_PREFIX, SHARED_JOBS } from './catalog.ts';
import { DASHBOARD_THEME } from './dashboard-theme.ts';
import { logConnectionErrors } from './log-connection-errors.ts';
import { type StagingQueue, watchStagingQueues } from './staging-queues.ts';

const DASHBOARD_PATH = '/queues';

export interface DashboardOptions {
  readonly redisUrl: string;
  /** Viewers read; operators also retry, remove and pause jobs. A response goes to whoever may do neither. */
  readonly admit: (context: Context) => 'viewer' | 'operator' | Response;
  readonly log: Logger;
}

export interface Dashboard {
  readonly routes: Hono;
  /** Jobs of its queues. Throws where Redis cannot be reached. */
  countJobs(): Promise<{ queue: string; waiting: number; active: number; failed: number }[]>;
  askRedis<T>(ask: (redis: Redis) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * bull-board at `/queues`. A person who may act on jobs may act on Redis, so it always requires credentials,
 * and shows buttons to operators alone. bull-board knows roles by adapter and not by person:
 * so there are two boards at one address.
 */
export function createDashboard(options: DashboardOptions): Dashboard {
  const connection = connectToAsk(options.redisUrl);
  const names = [...SHARED_JOBS, DELETION_JOB];
  const queues = names.map((name) => new Queue(name, { connection, prefix: QUEUE_PREFIX }));
  logConnectionErrors([connection, ...queues], connection, options.log);
  const boards = { viewer: createBoard(queues, true), operator: createBoard(queues, false) };
  const staging = watchStagingQueues(connection, (found) => {
    for (const board of Object.values(boards)) board.show(found);
  });

  const routes = new Hono();
  routes.use(`${DASHBOARD_PATH}/*`, async (context, next) => {
    await next();
    // Afterwards: the board returns a response of its own, without headers that were set before.
    context.header('cache-control', 'no-store');
    context.header('x-content-type-options', 'nosniff');
    context.header('x-frame-options', 'DENY');
    // bull-board's page loads fonts from another site; no request here leaves the machine.
    context.header('content-security-policy', "style-src 'self' 'unsafe-inline'; font-src 'self' data:");
  });
  const serve = async (context: Context) => {
    const role = options.admit(context);
    if (role instanceof Response) return role;
    // bull-board has no page at its address with a slash, where people land who type one.
    if (context.req.path === `${DASHBOARD_PATH}/`) return context.redirect(DASHBOARD_PATH);
    await staging.look().catch(() => {}); // the board says itself that Redis is away
    return boards[role].routes.fetch(context.req.raw, context.env);
  };
  routes.all(DASHBOARD_PATH, serve);
  routes.all(`${DASHBOARD_PATH}/*`, serve);
  return {
    routes,
    countJobs: () =>
      Promise.all(
        queues.map(async (queue) => {
          const counts = await queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active', 'failed');
          const { prioritized = 0, delayed = 0, active = 0, failed = 0 } = counts;
          // What is delayed of deletions is their next time: no worker is needed until then.
          const later = queue.name === DELETION_JOB ? 0 : delayed;
          const waiting = (counts['waiting'] ?? counts['wait'] ?? 0) + prioritized + later;
          return { queue: queue.name, waiting, active, failed };
        }),
      ),
    askRedis: (ask) => ask(connection),
    async close() {
      await staging.close();
      await Promise.allSettled(queues.map((queue) => queue.close()));
      connection.disconnect();
    },
  };
}

/** `show`: what is staged just now, beside the queues that are always there. */
interface Board {
  readonly routes: Hono;
  show(staging: readonly StagingQueue[]): void;
}

function createBoard(queues: readonly Queue[], readOnlyMode: boolean): Board {
  const server = new HonoAdapter(serveStatic);
  server.setBasePath(DASHBOARD_PATH);
  const createAdapter = (queue: Queue, job: JobName, displayName?: string) => {
    const adapter = new BullMQAdapter(queue, {
      readOnlyMode,
      allowRetries: !readOnlyMode,
      description: DESCRIPTIONS[job],
      ...(displayName === undefined ? {} : { displayName }),
    });
    adapter.setFormatter('name', ({ name, data }) => getTitle(name as JobName, data));
    adapter.setFormatter('progress', renderProgress);
    return adapter;
  };
  const adapters = queues.map((queue) => createAdapter(queue, queue.name as JobName));
  const { replaceQueues } = createBullBoard({
    queues: adapters,
    serverAdapter: server,
    options: {
      uiConfig: {
        boardTitle: 'Backhaul',
        hideRedisDetails: true,
        miscLinks: [{ text: 'Migrations', url: '/' }],
        theme: DASHBOARD_THEME,
      },
    },
  });
  const routes = new Hono();
  routes.route(DASHBOARD_PATH, server.registerPlugin());
  return {
    routes,
    show: (staging) =>
      replaceQueues([
        ...staging.map(({ queue, migration }) =>
          createAdapter(
            queue,
            'stage-file',
            migration === undefined ? 'stage-file' : `stage-file · ${migration}`,
          ),
        ),
        ...adapters,
      ]),
  };
}

const DESCRIPTIONS: Record<JobName, string> = {
  'stage-file': 'Cuts source files into parts.',
  'stage-slice': 'Cuts a file on shared storage, or a window of an API, into parts.',
  'import-part': 'Maps the records of one part and delivers them.',
  'resolve-people': 'Decides which ids belong to one person.',
  'merge-people': 'Sends which ids belong to one person.',
  'fold-people': 'Sends what is known of persons and groups.',
  'delete-events': 'Deletes the events of deleted persons from the bundled API.',
  'run-schedule': 'Takes what is new in a source into its migration, at the times of its schedule.',
};

const REASONS: Record<Payload<'delete-events'>['because'], string> = {
  scheduled: 'on schedule',
  asked: 'asked for',
  overdue: 'missed its time',
};

/** What the list shows in place of an id. */
export function getTitle(name: JobName, data: unknown): string {
  const { because, migration, slice, part, from, to } = data as {
    because?: Payload<'delete-events'>['because'];
    migration?: string;
    slice?: { name: string };
    part?: { file: string; number: number; records: number };
    from?: number;
    to?: number;
  };
  if (because) return `delete events · ${REASONS[because]}`;
  if (slice) return `${migration} · ${slice.name}`;
  if (name === 'run-schedule') return `${migration} · on schedule`;
  if (part) return `${migration} · ${part.file} · part ${part.number} (${part.records} records)`;
  return from === undefined ? `${migration} · ${name}` : `${migration} · persons, buckets ${from} to ${to}`;
}

/** Jobs report counts of records, or of synthetic events sent. */
function renderProgress(progress: unknown): string | number {
  if (typeof progress !== 'object' || progress === null) return Number(progress) || 0;
  return Object.entries(progress)
    .filter(([, count]) => Number(count) > 0)
    .map(([what, count]) => `${Number(count).toLocaleString('en-US')} ${what}`)
    .join(' · ');
}
