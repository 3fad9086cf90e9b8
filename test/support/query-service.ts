import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An event as a query sees it. */
export interface QueriedEvent {
  readonly uuid: string;
  readonly event: string;
  readonly distinctId: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface QueryServiceOptions {
  readonly personalKey: string;
  readonly projectId: number;
  readonly projectKey: string;
  readonly events: () => Iterable<QueriedEvent>;
  /** Who did an event. @default its distinct id */
  readonly personOf?: (distinctId: string) => string;
}

export interface QueryService {
  readonly url: string;
  /** Every statement that was answered. */
  readonly queries: string[];
  /** What the next requests are answered instead, one each. */
  readonly faults: { status: number; body: string; headers?: Record<string, string> }[];
  close(): Promise<void>;
}

/**
 * A stand-in for the private API of a real service: projects by page, and the statements of HogQL that are known
 * here, read word by word. Anything else is refused, as the service refuses what it cannot parse.
 */
export async function startQueryService(options: QueryServiceOptions): Promise<QueryService> {
  const queries: string[] = [];
  const faults: QueryService['faults'] = [];
  const server = createServer((request, response) => {
    void answer(request).then(({ status, body, headers = {} }) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    });
  });

  async function answer(request: IncomingMessage): Promise<QueryService['faults'][number]> {
    const text = await readBody(request);
    const fault = faults.shift();
    if (fault) return fault;
    const reply = (status: number, body: unknown) => ({ status, body: JSON.stringify(body) });
    const refuse = (status: number, detail: string) => reply(status, { type: 'error', detail });
    if (request.headers.authorization !== `Bearer ${options.personalKey}`)
      return refuse(401, 'Personal API key found in request Authorization header is invalid.');
    const { pathname } = new URL(request.url ?? '', 'http://service');
    if (request.method === 'GET' && pathname === '/api/projects/')
      return reply(200, {
        results: [
          { id: options.projectId + 1, api_token: 'phc_another' },
          { id: options.projectId, api_token: options.projectKey },
        ],
        next: null,
      });
    if (pathname !== `/api/projects/${options.projectId}/query/`) return refuse(404, 'Not found.');
    if (request.method !== 'POST') return refuse(405, 'Method not allowed.');
    const { query, refresh } = JSON.parse(text) as {
      query?: { kind?: string; query?: string };
      refresh?: string;
    };
    if (query?.kind !== 'HogQLQuery' || typeof query.query !== 'string') return refuse(400, 'No such query.');
    if (refresh !== 'force_blocking') return refuse(400, 'The answer would come from a cache.');
    const results = run(query.query, [...options.events()], options.personOf ?? ((id) => id));
    if (!results) return refuse(400, `Syntax error: ${query.query}`);
    queries.push(query.query);
    return reply(200, { results, columns: [], types: [] });
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    queries,
    faults,
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const OWN = /(?:properties\.`((?:\\.|[^`\\])+)` = '((?:\\.|[^'\\])*)'|1 = 1)/.source;
const TIME =
  /timestamp >= toDateTime\('([\d-]+) 00:00:00', 'UTC'\) AND timestamp < toDateTime\('([\d-]+) 00:00:00', 'UTC'\)/
    .source;
const MONTHS = new RegExp(
  `^SELECT toString\\(toStartOfMonth\\(toTimeZone\\(timestamp, 'UTC'\\)\\)\\) AS month, countIf\\(${OWN}\\) AS own, count\\(\\) AS stored FROM events GROUP BY month ORDER BY month LIMIT (\\d+)$`,
);
const DAYS = new RegExp(
  `^SELECT toString\\(toDate\\(toTimeZone\\(timestamp, 'UTC'\\)\\)\\) AS day, event, uniqExact\\(uuid, distinct_id\\) AS events, count\\(\\) AS stored, uniqExact\\(person_id\\) AS users FROM events WHERE ${OWN} AND ${TIME} GROUP BY day, event ORDER BY day, event LIMIT (\\d+) OFFSET (\\d+)$`,
);
const USERS = new RegExp(
  `^SELECT uniqExact\\(person_id\\) AS users FROM events WHERE ${OWN} AND ${TIME} AND event NOT IN \\(((?:'[^']*'(?:, )?)+)\\)$`,
);
const MOST_ROWS = 50_000;

type Rows = readonly (readonly (string | number)[])[];

function run(
  query: string,
  events: readonly QueriedEvent[],
  personOf: (id: string) => string,
): Rows | undefined {
  if (query === 'SELECT 1') return [[1]];
  const own = (name: string | undefined, value: string | undefined) => (event: QueriedEvent) =>
    name === undefined || event.properties[unquote(name)] === unquote(value ?? '');
  const within =
    (from = '', until = '') =>
    (event: QueriedEvent) =>
      event.timestamp >= from && event.timestamp < until;
  const unique = (all: readonly string[]) => new Set(all).size;
  const persons = (all: readonly QueriedEvent[]) => unique(all.map(({ distinctId }) => personOf(distinctId)));

  const months = MONTHS.exec(query);
  if (months) {
    const [, name, value, limit] = months;
    if (Number(limit) > MOST_ROWS) return undefined;
    return group(events, ({ timestamp }) => `${timestamp.slice(0, 7)}-01`).map(([month, all]) => [
      month,
      all.filter(own(name, value)).length,
      all.length,
    ]);
  }
  const days = DAYS.exec(query);
  if (days) {
    const [, name, value, from, until, limit, offset] = days;
    if (Number(limit) > MOST_ROWS) return undefined;
    const matching = events.filter(own(name, value)).filter(within(from, until));
    return group(matching, ({ timestamp, event }) => `${timestamp.slice(0, 10)} ${event}`)
      .map(([key, all]) => [
        key.slice(0, 10),
        key.slice(11),
        unique(all.map(({ uuid, distinctId }) => `${uuid} ${distinctId}`)),
        all.length,
        persons(all),
      ])
      .slice(Number(offset), Number(offset) + Number(limit));
  }
  const users = USERS.exec(query);
  if (!users) return undefined;
  const [, name, value, from, until, list = ''] = users;
  const without = [...list.matchAll(/'([^']*)'/g)].map(([, one = '']) => one);
  const matching = events.filter(own(name, value)).filter(within(from, until));
  return [[persons(matching.filter(({ event }) => !without.includes(event)))]];
}

const unquote = (text: string): string => text.replace(/\\(.)/g, '$1');

function group(
  events: readonly QueriedEvent[],
  toKey: (event: QueriedEvent) => string,
): [string, QueriedEvent[]][] {
  const groups = new Map<string, QueriedEvent[]>();
  for (const event of events) {
    const members = groups.get(toKey(event)) ?? [];
    groups.set(toKey(event), members);
    members.push(event);
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
