import { createHash, timingSafeEqual } from 'node:crypto';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Queue } from 'bullmq';
import { type Context, Hono } from 'hono';
import { Redis } from 'ioredis';
import type { Logger } from '../src/lib/logger.ts';
import { DELETION_JOB, type JobName, type Payload, QUEUE_PREFIX, SHARED_JOBS } from './catalog.ts';
import { logConnectionErrors } from './log-connection-errors.ts';

const DASHBOARD_PATH = '/queues';

export interface DashboardOptions {
  readonly redisUrl: string;
  readonly user: string;
  /** Opens the dashboard, read-only. */
  readonly password: string;
  /** Opens it with the right to retry, remove and pause jobs. */
  readonly adminPassword?: string | undefined;
  readonly log: Logger;
}

/**
 * bull-board at `/queues`. A person who may act on jobs may act on Redis, so it always requires credentials,
 * and shows buttons to the admin password alone. bull-board knows roles by adapter and not by person:
 * so there are two boards at one address.
 */
export function createDashboard(options: DashboardOptions): { routes: Hono; close(): Promise<void> } {
  const connection = new Redis(options.redisUrl, { maxRetriesPerRequest: 2, enableOfflineQueue: true });
  const names = [...SHARED_JOBS, DELETION_JOB];
  const queues = names.map((name) => new Queue(name, { connection, prefix: QUEUE_PREFIX }));
  logConnectionErrors([connection, ...queues], options.log);
  const viewer = createBoard(queues, true);
  const admin = createBoard(queues, false);

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
  const serve = (context: Context) => {
    const role = authorize(context.req.header('authorization'), options);
    if (!role) {
      context.header('www-authenticate', 'Basic realm="Backhaul queues", charset="UTF-8"');
      return context.text('User and password are asked for.\n', 401);
    }
    // A page of another site could make a browser that knows the password send this.
    if (context.req.method !== 'GET' && context.req.header('sec-fetch-site') === 'cross-site') {
      return context.text('Not from another site.\n', 403);
    }
    return (role === 'admin' ? admin : viewer).fetch(context.req.raw, context.env);
  };
  routes.all(DASHBOARD_PATH, serve);
  routes.all(`${DASHBOARD_PATH}/*`, serve);
  return {
    routes,
    async close() {
      await Promise.allSettled(queues.map((queue) => queue.close()));
      connection.disconnect();
    },
  };
}

function createBoard(queues: readonly Queue[], readOnlyMode: boolean): Hono {
  const server = new HonoAdapter(serveStatic);
  server.setBasePath(DASHBOARD_PATH);
  const adapters = queues.map((queue) => {
    const adapter = new BullMQAdapter(queue, {
      readOnlyMode,
      allowRetries: !readOnlyMode,
      description: DESCRIPTIONS[queue.name as JobName],
    });
    adapter.setFormatter('name', (job) => getTitle(job.name as JobName, job.data));
    adapter.setFormatter('progress', renderProgress);
    return adapter;
  });
  createBullBoard({
    queues: adapters,
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Backhaul', hideRedisDetails: true } },
  });
  const board = new Hono();
  board.route(DASHBOARD_PATH, server.registerPlugin());
  return board;
}

const DESCRIPTIONS: Record<JobName, string> = {
  'stage-file': 'Cuts source files into parts.',
  'stage-slice': 'Cuts a file on shared storage, or a window of an API, into parts.',
  'import-part': 'Maps the records of one part and delivers them.',
  'resolve-people': 'Decides which ids belong to one person.',
  'merge-people': 'Sends which ids belong to one person.',
  'fold-people': 'Sends what is known of persons and groups.',
  'delete-events': 'Deletes the events of deleted persons from the bundled API.',
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

type Role = 'viewer' | 'admin';

function authorize(header: string | undefined, options: DashboardOptions): Role | undefined {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? '')?.[1];
  if (!encoded) return undefined;
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  const { user, password, adminPassword } = options;
  if (adminPassword !== undefined && same(given, `${user}:${adminPassword}`)) return 'admin';
  return same(given, `${user}:${password}`) ? 'viewer' : undefined;
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const same = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
