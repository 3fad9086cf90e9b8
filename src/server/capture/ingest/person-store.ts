import { parseJson } from '../../../lib/json/parse-json.ts';
import type { Queryable } from '../../database/db.ts';
import { isJsonObject } from '../../http/json.ts';
import { toProperties } from './person-changes.ts';
import type { KnownPersons, Person, PersonsPlan, PersonToSave } from './plan-persons.ts';

/** Rows of persons by their uuid; grows as new ones are written. */
export type PersonRowIds = Map<string, number>;

export async function loadKnownPersons(
  tx: Queryable,
  projectId: number,
  distinctIds: readonly string[],
): Promise<{ known: KnownPersons; rowIds: PersonRowIds }> {
  const links = await tx.query<{ distinct_id: string; person_id: number }>(
    'select distinct_id, person_id from person_distinct_ids where project_id = $1 and distinct_id = any($2::text[])',
    [projectId, distinctIds],
  );
  const rows = await loadPersonRows(tx, [...new Set(links.map(({ person_id }) => person_id))]);
  const uuids = new Map(rows.map((row) => [row.id, row.uuid]));
  const owners = new Map<string, string>();
  for (const link of links) {
    const uuid = uuids.get(link.person_id);
    if (uuid !== undefined) owners.set(link.distinct_id, uuid);
  }
  const known = { persons: rows.map(toPerson), owners };
  return { known, rowIds: new Map(rows.map((row) => [row.uuid, row.id])) };
}

interface PersonRow {
  readonly id: number;
  readonly uuid: string;
  readonly properties: string;
  readonly is_identified: boolean;
  readonly created_at: string;
}

async function loadPersonRows(tx: Queryable, ids: readonly number[]): Promise<PersonRow[]> {
  if (ids.length === 0) return [];
  return tx.query<PersonRow>(
    'select id, uuid, properties, is_identified, created_at from persons where id = any($1::integer[])',
    [ids],
  );
}

function toPerson(row: PersonRow): Person {
  const value = parseJson(row.properties);
  return {
    uuid: row.uuid,
    properties: toProperties(isJsonObject(value) ? value : {}),
    isIdentified: row.is_identified,
    createdAt: row.created_at,
  };
}

/**
 * Writes the plan, one statement for each kind of change. New persons come before the ids that point to
 * them; ended ones go when their ids and their memberships of cohorts have moved. Rows are found by their
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
    await tx.query(
      `insert into person_distinct_ids (project_id, distinct_id, person_id)
       select $1, d, p from json_to_recordset($2::json) as t (d text, p integer)`,
      [projectId, JSON.stringify(rows)],
    );
  }
  if (plan.updated.length > 0) {
    const rows = plan.updated.map((person) => toJson(person, `"id":${getRowId(person.uuid)}`));
    await tx.query(
      `update persons p
       set properties = t.properties, is_identified = t.is_identified, created_at = t.created_at,
         updated_at = default
       from json_to_recordset($1::json)
         as t (id integer, properties jsonb, is_identified boolean, created_at timestamptz)
       where p.id = t.id`,
      [`[${rows.join(',')}]`],
    );
  }
  if (plan.merged.length > 0) {
    const rows = plan.merged.map(({ from, into }) => ({ ended: getRowId(from), survivor: getRowId(into) }));
    await tx.query(
      `update person_distinct_ids d set person_id = t.survivor
       from json_to_recordset($1::json) as t (ended integer, survivor integer)
       where d.person_id = t.ended`,
      [JSON.stringify(rows)],
    );
    await tx.query(
      `insert into cohort_members (cohort_id, person_id)
       select m.cohort_id, t.survivor from json_to_recordset($1::json) as t (ended integer, survivor integer)
       cross join lateral (select cohort_id from cohort_members where person_id = t.ended offset 0) m
       on conflict do nothing`,
      [JSON.stringify(rows)],
    );
    await tx.query('delete from persons where id = any($1::integer[])', [rows.map(({ ended }) => ended)]);
  }
}

async function insertPersons(
  tx: Queryable,
  projectId: number,
  persons: readonly PersonToSave[],
): Promise<[string, number][]> {
  if (persons.length === 0) return [];
  const rows = persons.map((person) => toJson(person, `"uuid":"${person.uuid}"`));
  const inserted = await tx.query<{ id: number; uuid: string }>(
    `insert into persons (project_id, uuid, properties, is_identified, created_at)
     select $1, uuid, properties, is_identified, created_at
     from json_to_recordset($2::json)
       as t (uuid uuid, properties jsonb, is_identified boolean, created_at timestamptz)
     returning id, uuid`,
    [projectId, `[${rows.join(',')}]`],
  );
  return inserted.map(({ id, uuid }) => [uuid, id]);
}

function toJson({ propertiesText, isIdentified, createdAt }: PersonToSave, key: string): string {
  return `{${key},"properties":${propertiesText},"is_identified":${isIdentified},"created_at":"${createdAt}"}`;
}
