import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from, to } from 'pg-copy-streams';
import { ensureProject } from '../../src/server/auth/projects.ts';
import type { Db } from '../../src/server/database/db.ts';
import { migrate } from '../../src/server/database/migrate.ts';
import { buildServerIndexes } from '../../src/server/database/migrations/server-indexes.ts';
import { runSql, type Sql, sql } from '../../src/server/database/sql.ts';

/** When the history begins, and how long it is. */
export const FIRST_DAY = '2023-01-01';
export const DAYS = 730;

const EVENTS_A_PERSON = 10;
const EVENTS_A_SESSION = 8;
const EVENTS_AN_INSERT = 50_000;
const EVENTS_A_COPY = 1_000_000;

/** From 0 to below 1, always the same for a number and a purpose. */
const random = (of: Sql, purpose: number): Sql =>
  sql`((hashint8extended(${of}, ${purpose}::bigint) & 2147483647) / 2147483648.0)::float8`;

/**
 * Makes the tables and a project in them whose history looks like that of a shop: sessions of eight events, some
 * persons with thousands of them and most with few, a fifth of the persons under two ids. Written by the database
 * itself, as ingestion would take most of an hour for ten million.
 *
 * @param serverUrl of a server, which makes events in one process and copies them into the table by another.
 * @default serverUrl the embedded database, which has one process
 */
export async function loadHistory(
  db: Db,
  events: number,
  log: (line: string) => void,
  serverUrl?: string,
): Promise<void> {
  await migrate(db);
  await buildServerIndexes(db);
  const project = await ensureProject(db, { name: 'questions', projectKey: 'phc_questions' });
  const persons = Math.ceil(events / EVENTS_A_PERSON);
  await db.transaction(async (tx) => {
    await runSql(tx, insertPersons(project.id, persons));
    await runSql(tx, insertIds(project.id, persons));
  }, 'upkeep');
  const atOnce = serverUrl === undefined ? EVENTS_AN_INSERT : EVENTS_A_COPY;
  for (let from = 0; from < events; from += atOnce) {
    const until = Math.min(events, from + atOnce);
    const rows = selectEvents(project.id, { from, until, events, persons });
    if (serverUrl === undefined) {
      const insert = sql`insert into events (${EVENT_COLUMNS}) ${rows}`;
      await db.transaction((tx) => runSql(tx, insert), 'upkeep');
    } else {
      await copyEvents(serverUrl, rows);
    }
    if (until % 1_000_000 === 0) log(`${until.toLocaleString('en-US')} events are loaded`);
  }
}

const EVENT_COLUMNS = sql`project_id, uuid, event, distinct_id, person_id, timestamp, properties`;

/** What one connection selects is copied into the table by another, in the binary format, without a file between them. */
async function copyEvents(serverUrl: string, rows: Sql): Promise<void> {
  const source = new pg.Client({ connectionString: serverUrl });
  const target = new pg.Client({ connectionString: serverUrl });
  try {
    await Promise.all([source.connect(), target.connect()]);
    await pipeline(
      source.query(to(`copy (${toLiteralText(rows)}) to stdout with (format binary)`)),
      target.query(from(`copy events (${toLiteralText(EVENT_COLUMNS)}) from stdin with (format binary)`)),
    );
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

/** COPY takes no parameters. */
function toLiteralText(statement: Sql): string {
  const { texts, params } = statement.toParts();
  return texts.reduce(
    (before, after, index) => `${before}${pg.escapeLiteral(String(params[index - 1]))}${after}`,
  );
}

const firstMoment = sql`${`${FIRST_DAY}T00:00:00Z`}::timestamptz`;

const insertPersons = (projectId: number, persons: number): Sql => sql`
  insert into persons (project_id, uuid, properties, is_identified, created_at)
  select ${projectId}::integer, md5('person ' || k)::uuid,
    jsonb_build_object('email', 'person' || k || '@example.com', 'name', 'Person ' || k,
      'plan', (array['free', 'free', 'free', 'team', 'pro'])[1 + k % 5], 'seats', k % 40,
      '$initial_referring_domain', (array['$direct', 'search.example', 'news.example'])[1 + k % 3],
      '$geoip_country_code', (array['DE', 'US', 'FR', 'JP', 'BR', 'IN', 'GB'])[1 + k % 7]),
    true, ${firstMoment} + ${random(sql`k`, 1)} * ${DAYS}::integer * interval '24 hours'
  from generate_series(0, ${persons - 1}::bigint) as k`;

const insertIds = (projectId: number, persons: number): Sql => sql`
  insert into person_distinct_ids (project_id, distinct_id, person_id)
  select ${projectId}::integer, ids.own, p.id
  from generate_series(0, ${persons - 1}::bigint) as k
  join persons p on p.project_id = ${projectId}::integer and p.uuid = md5('person ' || k)::uuid
  cross join lateral (
    select 'user-' || k union all select 'device-' || md5('device ' || k)::uuid where k % 5 = 0) as ids (own)`;

interface EventRange {
  readonly from: number;
  readonly until: number;
  readonly events: number;
  readonly persons: number;
}

const selectEvents = (projectId: number, { from, until, events, persons }: EventRange): Sql => sql`
  select ${projectId}::integer, md5('event ' || i)::uuid, event,
    case when k % 5 = 0 and by_device < 0.5 then 'device-' || md5('device ' || k)::uuid else 'user-' || k end,
    md5('person ' || k)::uuid, at,
    jsonb_build_object('$current_url', 'https://shop.example/' || path, '$pathname', '/' || path,
      '$browser', (array['Chrome', 'Safari', 'Firefox', 'Edge'])[1 + k % 4], '$browser_version', 100 + k % 20,
      '$os', (array['Windows', 'iOS', 'Android', 'Mac OS X', 'Linux'])[1 + k % 5], '$device_type', 'Desktop',
      '$screen_width', 1280 + k % 5 * 160, '$screen_height', 720 + k % 5 * 90, '$lib', 'web', '$lib_version', '1.96.1',
      '$session_id', md5('session ' || session)::uuid, '$device_id', md5('device ' || k)::uuid,
      '$referrer', 'https://search.example/', '$referring_domain', 'search.example', '$host', 'shop.example',
      '$geoip_country_code', (array['DE', 'US', 'FR', 'JP', 'BR', 'IN', 'GB'])[1 + k % 7],
      'utm_source', (array['newsletter', 'search', 'partner', ''])[1 + (session % 4)::integer],
      'amount', floor(amount * 20000) / 100, 'article', 'A-' || floor(amount * 5000))
  from (
    select i, i / ${EVENTS_A_SESSION}::bigint as session,
      floor(${persons}::integer * ${random(session, 2)} * ${random(session, 2)})::bigint as k,
      ${random(session, 3)} as by_device, ${random(sql`i`, 4)} as amount,
      ${firstMoment} + i / ${EVENTS_A_SESSION}::bigint * (interval '24 hours' * ${DAYS}::integer
        / ${Math.ceil(events / EVENTS_A_SESSION)}::float8)
        + (i % ${EVENTS_A_SESSION}::bigint + ${random(sql`i`, 5)}) * interval '40 seconds' as at,
      (array['', 'cart', 'search', 'help', 'account'])[1 + floor(${random(sql`i`, 6)} * 5)::integer]
        || case when ${random(sql`i`, 7)} < 0.5 then '' else '/' || floor(${random(sql`i`, 7)} * 60) end as path,
      ${selectName(random(sql`i`, 8))} as event
    from generate_series(${from}::bigint, ${until - 1}::bigint) as i) as drawn`;

const session = sql`i / ${EVENTS_A_SESSION}::bigint`;

const selectName = (drawn: Sql): Sql => sql`case
  when ${drawn} < 0.45 then '$pageview' when ${drawn} < 0.67 then 'item viewed' when ${drawn} < 0.8 then 'searched'
  when ${drawn} < 0.9 then 'item added' when ${drawn} < 0.95 then 'checkout started'
  when ${drawn} < 0.98 then 'order placed' else '$identify' end`;
