import type { Queryable } from '../database/db.ts';
import { allOf, anyOf, runSql, type Sql, sql } from '../filters/sql.ts';
import type { Page } from '../paging.ts';
import { isUuid, type PersonId } from '../person-id.ts';

export interface StoredPerson {
  readonly id: number;
  readonly uuid: string;
  /** JSON text. */
  readonly properties: string;
  readonly created_at: string;
  /** In the order they were first seen. */
  readonly distinct_ids: string[];
}

/** All of them hold; one that is left out or empty asks for nothing. */
export interface PersonFilter {
  readonly distinctId?: string | undefined;
  readonly email?: string | undefined;
  readonly search?: string | undefined;
  /** A condition on `p`, the person. */
  readonly condition?: Sql | undefined;
}

const PERSON_COLUMNS = sql`p.id, p.uuid, p.properties, p.created_at, coalesce(
  (select array_agg(d.distinct_id order by d.id) from person_distinct_ids d where d.person_id = p.id), '{}'
) as distinct_ids`;

const ownerOf = (projectId: number, distinctId: string): Sql =>
  sql`(select d.person_id from person_distinct_ids d
    where d.project_id = ${projectId}::integer and d.distinct_id = ${distinctId}::text)`;

/** People dated more than a day ahead stay hidden, as the service does it. */
function matching(projectId: number, filter: PersonFilter): Sql {
  const { distinctId, email, search, condition } = filter;
  const conditions = [
    sql`p.project_id = ${projectId}::integer`,
    sql`p.created_at < now() + interval '1 day'`,
    ...(distinctId ? [sql`p.id = ${ownerOf(projectId, distinctId)}`] : []),
    ...(email ? [sql`p.properties ->> 'email' = ${email}::text`] : []),
    ...(search ? [searched(projectId, search)] : []),
    ...(condition === undefined ? [] : [condition]),
  ];
  return sql`from persons p where ${allOf(conditions)}`;
}

const searched = (projectId: number, search: string): Sql =>
  anyOf([
    sql`position(lower(${search}::text) in lower(p.properties ->> 'email')) > 0`,
    sql`p.id = ${ownerOf(projectId, search)}`,
    ...(isUuid(search) ? [sql`p.uuid = ${search}::uuid`] : []),
  ]);

export async function countPersons(db: Queryable, projectId: number, filter: PersonFilter): Promise<number> {
  const [row] = await runSql<{ count: number }>(
    db,
    sql`select count(*) as count ${matching(projectId, filter)}`,
  );
  return row?.count ?? 0;
}

/** Newest first. */
export async function loadPersonIds(
  db: Queryable,
  projectId: number,
  filter: PersonFilter,
  { limit, offset }: Page,
): Promise<number[]> {
  const rows = await runSql<{ id: number }>(
    db,
    sql`select p.id ${matching(projectId, filter)}
      order by p.created_at desc, p.id desc limit ${limit}::bigint offset ${offset}::bigint`,
  );
  return rows.map(({ id }) => id);
}

/** In the order of `ids`; those that do not exist are left out. */
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
