import type { Db, Queryable } from '../database/db.ts';
import { allOf, anyOf, runSql, type Sql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';
import { isUuid } from '../http/row-id.ts';
import { readInBlocks } from '../query/over-blocks.ts';
import type { PersonId } from './person-id.ts';
import { explainTooSlow, SEARCH_LIMIT_MS, searchInTime } from './search-in-time.ts';

export interface StoredPerson {
  readonly id: number;
  readonly uuid: string;
  /** JSON text. */
  readonly properties: string;
  readonly createdAt: string;
  readonly isIdentified: boolean;
  /** In the order they were first seen. */
  readonly distinctIds: string[];
}

/** All of them hold; a missing or empty one is ignored. */
export interface PersonFilter {
  readonly distinctId?: string | undefined;
  readonly email?: string | undefined;
  readonly search?: string | undefined;
  /** ISO 8601: whose properties changed later. */
  readonly updatedAfter?: string | undefined;
  /** A condition on `p`, the person. */
  readonly condition?: Sql | undefined;
}

const PERSON_COLUMNS = sql`p.id, p.uuid, p.properties, p.created_at as "createdAt",
  p.is_identified as "isIdentified", coalesce(
  (select array_agg(d.distinct_id order by d.id) from person_distinct_ids d where d.person_id = p.id), '{}'
) as "distinctIds"`;

const selectOwner = (projectId: number, distinctId: string): Sql =>
  sql`(select d.person_id from person_distinct_ids d
    where d.project_id = ${projectId}::integer and d.distinct_id = ${distinctId}::text)`;

/** A text in the case that the column `email` is in. */
const folded = (text: Sql): Sql => sql`(lower(${text}) collate "C")`;

/**
 * `id` and `created_at` of persons who match. Persons dated more than a day ahead are hidden, as in the
 * service. `guard` is one of the conditions on each person.
 */
function matching(projectId: number, filter: PersonFilter, guard?: Sql): Sql {
  const { distinctId, email, search, updatedAfter, condition } = filter;
  const conditions = [
    sql`p.project_id = ${projectId}::integer`,
    sql`p.created_at < now() + interval '1 day'`,
    ...(guard === undefined ? [] : [guard]),
    ...(distinctId ? [sql`p.id = ${selectOwner(projectId, distinctId)}`] : []),
    ...(email
      ? [
          sql`p.email = ${folded(sql`left(${email}::text, 320)`)}`,
          sql`p.properties ->> 'email' = ${email}::text`,
        ]
      : []),
    ...(updatedAfter ? [sql`p.updated_at > ${updatedAfter}::timestamptz`] : []),
    ...(condition === undefined ? [] : [condition]),
  ];
  const select = (...more: readonly Sql[]) =>
    sql`select p.id, p.created_at from persons p where ${allOf([...conditions, ...more])}`;
  if (!search) return select();
  // Apart, so that the first reads nothing but the index.
  const byEmail = sql`position(${folded(sql`${search}::text`)} in p.email) > 0`;
  const byName = anyOf([
    sql`p.id = ${selectOwner(projectId, search)}`,
    ...(isUuid(search) ? [sql`p.uuid = ${search}::uuid`] : []),
  ]);
  return sql`${select(byEmail)} union all ${select(byName, sql`(${byEmail}) is not true`)}`;
}

export interface FoundPersons {
  /** On all pages. */
  readonly count: number;
  /** Of this page, newest first. */
  readonly ids: readonly number[];
}

export async function findPersons(
  db: Db,
  projectId: number,
  filter: PersonFilter,
  { limit, offset }: Page,
  limitMs?: number,
): Promise<FoundPersons> {
  const page = sql`order by created_at desc, id desc limit ${limit}::bigint offset ${offset}::bigint`;
  if (filter.search || filter.updatedAfter || filter.condition !== undefined) {
    if (db.kind === 'pglite') return searchInBlocks(db, projectId, filter, { limit, offset }, limitMs);
    // Conditions that scan every person do so once.
    const select = (guard: Sql) =>
      sql`with matched as materialized (${matching(projectId, filter, guard)})
        select (select count(*) from matched) as count, array(select id from matched ${page}) as ids`;
    const [found] = await searchInTime(db, (tx, guard) => runSql<FoundPersons>(tx, select(guard)), limitMs);
    return found ?? { count: 0, ids: [] };
  }
  const all = matching(projectId, filter);
  const [total] = await runSql<{ count: number }>(db, sql`select count(*) as count from (${all}) matched`);
  const rows = await runSql<{ id: number }>(db, sql`select id from (${all}) matched ${page}`);
  return { count: total?.count ?? 0, ids: rows.map(({ id }) => id) };
}

/** The same on the embedded database: what is found in each part of the table is put in order here. */
async function searchInBlocks(
  db: Db,
  projectId: number,
  filter: PersonFilter,
  { limit, offset }: Page,
  limitMs: number = SEARCH_LIMIT_MS,
): Promise<FoundPersons> {
  const ids: number[] = [];
  const times: number[] = [];
  const select = (place: Sql) => sql`with matched as (${matching(projectId, filter, place)})
    select coalesce(array_agg(id), '{}') as ids,
      coalesce(array_agg(extract(epoch from created_at)::float8), '{}') as times
    from matched`;
  const take = ([found]: readonly { readonly ids: number[]; readonly times: number[] }[]) => {
    for (const id of found?.ids ?? []) ids.push(id);
    for (const time of found?.times ?? []) times.push(time);
  };
  const reading = readInBlocks(db, { table: 'persons', select, take, budgetMs: limitMs });
  await reading.catch((error: unknown) => {
    throw explainTooSlow(error, limitMs);
  });
  const newestFirst = Array.from(ids.keys()).sort(
    (a, b) => (times[b] ?? 0) - (times[a] ?? 0) || (ids[b] ?? 0) - (ids[a] ?? 0),
  );
  const page = newestFirst.slice(offset, offset + limit).map((place) => ids[place] ?? 0);
  return { count: ids.length, ids: page };
}

/** In the order of `ids`, without those that do not exist. */
export function loadPersons(
  db: Queryable,
  projectId: number,
  ids: readonly number[],
): Promise<StoredPerson[]> {
  return runSql<StoredPerson>(
    db,
    sql`select ${PERSON_COLUMNS}
      from unnest(${ids}::integer[]) with ordinality as wanted (id, position)
      join persons p on p.id = wanted.id and p.project_id = ${projectId}::integer
      order by wanted.position`,
  );
}

export async function loadPerson(
  db: Queryable,
  projectId: number,
  id: PersonId,
): Promise<StoredPerson | undefined> {
  const named = 'id' in id ? sql`p.id = ${id.id}::integer` : sql`p.uuid = ${id.uuid}::uuid`;
  const [person] = await runSql<StoredPerson>(
    db,
    sql`select ${PERSON_COLUMNS} from persons p where p.project_id = ${projectId}::integer and ${named}`,
  );
  return person;
}
