import type { Queryable } from '../database/db.ts';
import { runSql, type Sql, sql } from '../database/sql.ts';
import type { PersonId } from '../persons/person-id.ts';

/** Persons as a request names them. */
export interface NamedPersons {
  readonly ids: readonly number[];
  readonly uuids: readonly string[];
  readonly distinctIds: readonly string[];
}

export interface FoundPerson {
  readonly id: number;
  /** The id, uuid or distinct id of the request. */
  readonly named: string;
}

/** Those that exist; one that is named several ways comes several times. */
export function findPersons(db: Queryable, projectId: number, wanted: NamedPersons): Promise<FoundPerson[]> {
  const { ids, uuids, distinctIds } = wanted;
  return runSql(
    db,
    sql`select id, id::text as named from persons
        where project_id = ${projectId}::integer and id = any(${ids}::integer[])
      union all select id, uuid::text from persons
        where project_id = ${projectId}::integer and uuid = any(${uuids}::text[]::uuid[])
      union all select person_id, distinct_id from person_distinct_ids
        where project_id = ${projectId}::integer and distinct_id = any(${distinctIds}::text[])`,
  );
}

export async function addMembers(
  tx: Queryable,
  cohortId: number,
  personIds: readonly number[],
): Promise<void> {
  await runSql(
    tx,
    sql`insert into cohort_members (cohort_id, person_id)
      select ${cohortId}::integer, id from unnest(${personIds}::integer[]) as members (id)
      on conflict do nothing`,
  );
}

export async function removeMembers(
  tx: Queryable,
  cohortId: number,
  personIds: readonly number[],
): Promise<void> {
  await runSql(
    tx,
    sql`delete from cohort_members
      where cohort_id = ${cohortId}::integer and person_id = any(${personIds}::integer[])`,
  );
}

/** The person's own number; undefined where the project has no such person. */
export async function findPerson(
  db: Queryable,
  projectId: number,
  person: PersonId,
): Promise<number | undefined> {
  const named = 'id' in person ? sql`id = ${person.id}::integer` : sql`uuid = ${person.uuid}::uuid`;
  const [row] = await runSql<{ id: number }>(
    db,
    sql`select id from persons where project_id = ${projectId}::integer and ${named}`,
  );
  return row?.id;
}

/** Whether a condition on `p` holds for one person. */
export async function holdsFor(
  db: Queryable,
  projectId: number,
  personId: number,
  condition: Sql,
): Promise<boolean> {
  const rows = await runSql(
    db,
    sql`select from persons p
      where p.project_id = ${projectId}::integer and p.id = ${personId}::integer and ${condition}`,
  );
  return rows.length > 0;
}

/** How many persons a condition on `p` holds for. */
export const selectCount = (projectId: number, condition: Sql): Sql =>
  sql`select count(*) as count from persons p where p.project_id = ${projectId}::integer and ${condition}`;

export async function countPersons(tx: Queryable, projectId: number, condition: Sql): Promise<number> {
  const [row] = await runSql<{ count: number }>(tx, selectCount(projectId, condition));
  return row?.count ?? 0;
}

export async function saveCount(
  db: Queryable,
  cohortId: number,
  count: number,
  calculatedAt: string,
): Promise<void> {
  await runSql(
    db,
    sql`update cohorts set count = ${count}, last_calculation = ${calculatedAt}::timestamptz, errors_calculating = 0
      where id = ${cohortId}::integer`,
  );
}

/** The old count stays, and its time with it. */
export async function saveCountError(db: Queryable, cohortId: number): Promise<void> {
  await runSql(
    db,
    sql`update cohorts set errors_calculating = errors_calculating + 1 where id = ${cohortId}::integer`,
  );
}
