import { parseJson } from '../../../lib/json/parse-json.ts';
import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import { isJsonObject } from '../../http/json.ts';
import { toProperties } from './person-changes.ts';
import type { KnownPersons, Person, PersonsPlan, PersonToSave } from './plan-persons.ts';

/** Rows of persons by their uuid; grows as new ones are written. */
export type PersonRowIds = Map<string, number>;

export async function loadKnownPersons(
  tx: Queryable,
  projectId: number,
  distinctIds: readonly string[],
): Promise<{ known: KnownPersons; rowIds: PersonRowIds; characters: number }> {
  const links = await runSql<{ distinctId: string; personId: number }>(
    tx,
    sql`select distinct_id as "distinctId", person_id as "personId" from person_distinct_ids
      where project_id = ${projectId} and distinct_id = any(${distinctIds}::text[])`,
  );
  const rows = await loadPersonRows(tx, [...new Set(links.map(({ personId }) => personId))]);
  const uuids = new Map(rows.map((row) => [row.id, row.uuid]));
  const owners = new Map<string, string>();
  for (const link of links) {
    const uuid = uuids.get(link.personId);
    if (uuid !== undefined) owners.set(link.distinctId, uuid);
  }
  const known = { persons: rows.map(toPerson), owners };
  const characters = rows.reduce((sum, { properties }) => sum + properties.length, 0);
  return { known, rowIds: new Map(rows.map((row) => [row.uuid, row.id])), characters };
}

interface PersonRow {
  readonly id: number;
  readonly uuid: string;
  readonly properties: string;
  readonly isIdentified: boolean;
  readonly createdAt: string;
}

async function loadPersonRows(tx: Queryable, ids: readonly number[]): Promise<PersonRow[]> {
  if (ids.length === 0) return [];
  return runSql<PersonRow>(
    tx,
    sql`select id, uuid, properties, is_identified as "isIdentified", created_at as "createdAt"
      from persons where id = any(${ids}::integer[])`,
  );
}

function toPerson(row: PersonRow): Person {
  const value = parseJson(row.properties);
  return {
    uuid: row.uuid,
    properties: toProperties(isJsonObject(value) ? value : {}),
    isIdentified: row.isIdentified,
    createdAt: row.createdAt,
  };
}

/**
 * Writes the plan, one statement for each kind of change. New persons come before the ids that point to
 * them; ended ones go when their ids, memberships of cohorts and identifiers of flags have moved. Rows are found by their
 * primary key alone: a join over the project would read all of its persons wherever the planner has no
 * statistics yet.
 */
export async function savePersons(
  tx: Queryable,
  projectId: number,
  plan: PersonsPlan,
  known: PersonRowIds,
): Promise<void> {
  const rowIds = new Map([...known, ...(await insertPersons(tx, projectId, plan.created))]);
  const getRowId = (uuid: string) => {
    const id = rowIds.get(uuid);
    if (id === undefined) throw new Error(`no row for person ${uuid}`);
    return id;
  };
  if (plan.added.length > 0) {
    const rows = plan.added.map(({ distinctId, personUuid }) => ({ d: distinctId, p: getRowId(personUuid) }));
    await runSql(
      tx,
      sql`insert into person_distinct_ids (project_id, distinct_id, person_id)
        select ${projectId}, d, p from json_to_recordset(${JSON.stringify(rows)}::json) as t (d text, p integer)`,
    );
  }
  if (plan.updated.length > 0) {
    const rows = plan.updated.map((person) => toJson(person, `"id":${getRowId(person.uuid)}`));
    await runSql(
      tx,
      sql`update persons p
        set properties = t.properties, is_identified = t.is_identified, created_at = t.created_at,
          updated_at = default
        from json_to_recordset(${`[${rows.join(',')}]`}::json)
          as t (id integer, properties jsonb, is_identified boolean, created_at timestamptz)
        where p.id = t.id`,
    );
  }
  if (plan.merged.length > 0) {
    const merges = plan.merged.map(({ from, into }) => ({ ended: getRowId(from), survivor: getRowId(into) }));
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
}

async function insertPersons(
  tx: Queryable,
  projectId: number,
  persons: readonly PersonToSave[],
): Promise<[string, number][]> {
  if (persons.length === 0) return [];
  const rows = persons.map((person) => toJson(person, `"uuid":"${person.uuid}"`));
  const inserted = await runSql<{ id: number; uuid: string }>(
    tx,
    sql`insert into persons (project_id, uuid, properties, is_identified, created_at)
      select ${projectId}, uuid, properties, is_identified, created_at
      from json_to_recordset(${`[${rows.join(',')}]`}::json)
        as t (uuid uuid, properties jsonb, is_identified boolean, created_at timestamptz)
      returning id, uuid`,
  );
  return inserted.map(({ id, uuid }) => [uuid, id]);
}

function toJson({ propertiesText, isIdentified, createdAt }: PersonToSave, key: string): string {
  return `{${key},"properties":${propertiesText},"is_identified":${isIdentified},"created_at":"${createdAt}"}`;
}
