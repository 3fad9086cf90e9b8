import type { Db, Queryable } from '../database/db.ts';
import { allOf, runSql, type Sql, sql } from '../database/sql.ts';
import { readInBlocks } from '../query/over-blocks.ts';
import { inTime, limitTime } from '../query/time-limit.ts';

/** A property that the events of one import carry. */
export interface EventStamp {
  readonly property: string;
  readonly value: string;
}

export interface MonthCount {
  /** `2024-02`, UTC. */
  readonly month: string;
  /** Events with the stamp; all where none is asked for. */
  readonly count: number;
  /** The other events. */
  readonly others: number;
}

export interface DayCount {
  /** `2024-02-03`, UTC. */
  readonly day: string;
  readonly event: string;
  readonly count: number;
  /** Different persons. */
  readonly users: number;
}

/** Who verifies an import waits for it: it is generous. */
const COUNT_LIMIT_MS = 300_000;

const isStamped = (stamp: EventStamp | undefined): Sql =>
  stamp ? sql`coalesce(e.properties ->> ${stamp.property}::text = ${stamp.value}::text, false)` : sql`true`;

/** In order of time. */
export async function loadMonthCounts(
  db: Db,
  projectId: number,
  stamp: EventStamp | undefined,
): Promise<MonthCount[]> {
  const select = (place: Sql) =>
    sql`select to_char(e.timestamp at time zone 'UTC', 'YYYY-MM') as month, ${isStamped(stamp)} as stamped,
        count(*) as count
      from events e where e.project_id = ${projectId} and ${place} group by 1, 2`;
  const months = new Map<string, { count: number; others: number }>();
  const take = (rows: readonly { month: string; stamped: boolean; count: number }[]) => {
    for (const { month, stamped, count } of rows) {
      const sums = months.get(month) ?? { count: 0, others: 0 };
      months.set(month, sums);
      sums[stamped ? 'count' : 'others'] += count;
    }
  };
  if (db.kind === 'pglite')
    await readInBlocks(db, { table: 'events', select, take, budgetMs: COUNT_LIMIT_MS });
  else
    take(
      await db.transaction(async (tx) => {
        await limitTime(tx, COUNT_LIMIT_MS);
        return runSql(tx, select(sql`true`));
      }, 'question'),
    );
  return [...months]
    .map(([month, sums]) => ({ month, ...sums }))
    .toSorted((a, b) => (a.month < b.month ? -1 : 1));
}

export interface MonthFilter {
  readonly month: string;
  readonly stamp: EventStamp | undefined;
  /** Names of events whose persons do not count. */
  readonly without: readonly string[];
}

/** Events of one month by day and name, in this order, and how many persons have any of them. */
export function loadDayCounts(
  db: Db,
  projectId: number,
  { month, stamp, without }: MonthFilter,
): Promise<{ days: DayCount[]; users: number }> {
  return db.transaction(async (tx) => {
    if (db.kind !== 'pglite') await limitTime(tx, COUNT_LIMIT_MS);
    const conditions = [
      sql`e.project_id = ${projectId}`,
      sql`e.timestamp >= ${`${month}-01T00:00:00Z`}::timestamptz`,
      sql`e.timestamp < ${nextMonth(month)}::timestamptz`,
      isStamped(stamp),
      ...(db.kind === 'pglite' ? [inTime(COUNT_LIMIT_MS)] : []),
    ];
    const days = await runSql<DayCount>(
      tx,
      sql`select to_char(e.timestamp at time zone 'UTC', 'YYYY-MM-DD') as day, e.event, count(*) as count,
          count(distinct ${WHO}) as users
        ${from(conditions)} group by 1, 2 order by 1, 2`,
    );
    return { days, users: await countUsers(tx, [...conditions, sql`e.event <> all(${without}::text[])`]) };
  }, 'question');
}

async function countUsers(tx: Queryable, conditions: readonly Sql[]): Promise<number> {
  const [row] = await runSql<{ users: number }>(
    tx,
    sql`select count(distinct ${WHO}) as users ${from(conditions)}`,
  );
  return row?.users ?? 0;
}

/** Who did an event, as insights count persons: merged ones are one. */
const WHO = sql`coalesce(d.person_id::text, 'u' || e.person_id::text, 'd' || e.distinct_id)`;

const from = (conditions: readonly Sql[]): Sql =>
  sql`from events e
    left join person_distinct_ids d on d.project_id = e.project_id and d.distinct_id = e.distinct_id
    where ${allOf(conditions)}`;

function nextMonth(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number)).toISOString();
}
