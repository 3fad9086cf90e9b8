import {
  toBooleanArray,
  toIntegerArray,
  toJsonArray,
  toTextArray,
  toTimeArray,
  toUuidArray,
} from '../../database/binary-array.ts';
import type { Queryable, StatementOptions } from '../../database/db.ts';
import { runSql, type Sql, sql } from '../../database/sql.ts';
import type { InsertSql } from './event-store.ts';
import type { PersonsPlan, PersonToSave } from './plan-persons.ts';

/**
 * Writes the plan for persons, and inserts the events in the same statement, as a statement costs a small batch more
 * than its rows do. Persons who end go when their ids, memberships of cohorts and identifiers of flags have
 * moved. Rows are found by their primary key alone: a join over the project would read all of its persons
 * wherever the planner has no statistics yet.
 */
export async function savePersons(
  tx: Queryable,
  projectId: number,
  { plan, known, events, commits }: PersonsToSave,
): Promise<void> {
  const options: StatementOptions = commits && plan.merged.length === 0 ? { sendWith: 'commit' } : {};
  const created = await saveDrafts(tx, projectId, plan, known, events, options);
  await mergePersons(tx, plan.merged, new Map([...known, ...created]));
}

export interface PersonsToSave {
  readonly plan: PersonsPlan;
  /** Rows of persons, by uuid. */
  readonly known: ReadonlyMap<string, number>;
  readonly events: InsertSql;
  /** Whether the transaction ends with this. */
  readonly commits: boolean;
}

/** Rows of the new persons, by uuid. */
async function saveDrafts(
  tx: Queryable,
  projectId: number,
  { created, updated, added }: PersonsPlan,
  known: ReadonlyMap<string, number>,
  { withs, insert }: InsertSql,
  options: StatementOptions,
): Promise<[string, number][]> {
  if (created.length === 0 && updated.length === 0 && added.length === 0) {
    await runSql(tx, sql`with ${withs} ${insert}`, options);
    return [];
  }
  const rows = await runSql<{ id: number; uuid: string }>(
    tx,
    sql`with ${withs}, created as (${insertPersons(projectId, created)}),
      linked as (${linkIds(projectId, added, known)}),
      updated as (${updatePersons(updated, known)}),
      inserted as (${insert})
      select id, uuid from created`,
    options,
  );
  return rows.map(({ id, uuid }) => [uuid, id]);
}

function insertPersons(projectId: number, persons: readonly PersonToSave[]): Sql {
  return sql`insert into persons (project_id, uuid, properties, is_identified, created_at)
    select ${projectId}, * from unnest(
      ${toUuidArray(persons.map(({ uuid }) => uuid))}::uuid[], ${toColumns(persons)})
    returning id, uuid`;
}

/**
 * An id belongs to a known person, found by its row, or to one that the same statement creates. Ids are numbered
 * in the order in which they came, in which they are listed later.
 */
function linkIds(projectId: number, added: PersonsPlan['added'], known: ReadonlyMap<string, number>): Sql {
  return sql`insert into person_distinct_ids (project_id, distinct_id, person_id)
    select ${projectId}, t.distinct_id, coalesce(t.person_id, created.id)
    from unnest(
      ${toTextArray(added.map(({ distinctId }) => distinctId))}::text[],
      ${toIntegerArray(added.map(({ personUuid }) => known.get(personUuid)))}::integer[],
      ${toUuidArray(added.map(({ personUuid }) => personUuid))}::uuid[]
    ) with ordinality as t (distinct_id, person_id, uuid, place)
    left join created on created.uuid = t.uuid
    order by t.place`;
}

function updatePersons(persons: readonly PersonToSave[], known: ReadonlyMap<string, number>): Sql {
  const ids = persons.map(({ uuid }) => getRowId(known, uuid));
  return sql`update persons p
    set properties = t.properties, is_identified = t.is_identified, created_at = t.created_at,
      updated_at = default
    from unnest(${toIntegerArray(ids)}::integer[], ${toColumns(persons)})
      as t (id, properties, is_identified, created_at)
    where p.id = t.id`;
}

const toColumns = (persons: readonly PersonToSave[]): Sql =>
  sql`${toJsonArray(persons.map(({ propertiesText }) => Buffer.from(propertiesText)))}::jsonb[],
    ${toBooleanArray(persons.map(({ isIdentified }) => isIdentified))}::boolean[],
    ${toTimeArray(persons.map(({ createdAt }) => createdAt))}::timestamptz[]`;

async function mergePersons(
  tx: Queryable,
  merged: PersonsPlan['merged'],
  known: ReadonlyMap<string, number>,
): Promise<void> {
  if (merged.length === 0) return;
  const merges = merged.map(({ from, into }) => ({
    ended: getRowId(known, from),
    survivor: getRowId(known, into),
  }));
  const rows = JSON.stringify(merges);
  await runSql(
    tx,
    sql`update person_distinct_ids d set person_id = t.survivor
      from json_to_recordset(${rows}::json) as t (ended integer, survivor integer)
      where d.person_id = t.ended`,
  );
  await runSql(
    tx,
    sql`insert into cohort_members (cohort_id, person_id)
      select m.cohort_id, t.survivor
      from json_to_recordset(${rows}::json) as t (ended integer, survivor integer)
      cross join lateral (select cohort_id from cohort_members where person_id = t.ended offset 0) m
      on conflict do nothing`,
  );
  // The survivor keeps its own.
  await runSql(
    tx,
    sql`insert into flag_hash_keys (person_id, flag_key, hash_key)
      select t.survivor, k.flag_key, k.hash_key
      from json_to_recordset(${rows}::json) as t (ended integer, survivor integer)
      cross join lateral (select flag_key, hash_key from flag_hash_keys where person_id = t.ended offset 0) k
      on conflict do nothing`,
  );
  await runSql(tx, sql`delete from persons where id = any(${merges.map(({ ended }) => ended)}::integer[])`);
}

function getRowId(known: ReadonlyMap<string, number>, uuid: string): number {
  const id = known.get(uuid);
  if (id === undefined) throw new Error(`no row for person ${uuid}`);
  return id;
}
