import type { Queryable } from '../database/db.ts';
import { isJsonObject, parseJson, stringifyJson } from '../json.ts';
import { toProperties } from './person-changes.ts';
import type { KnownPeople, PeoplePlan, Person } from './plan-people.ts';

/** JSON text of an object kept as a map. */
export function mapText(map: ReadonlyMap<string, unknown>): string {
  const members: string[] = [];
  for (const [key, value] of map) members.push(`${JSON.stringify(key)}:${stringifyJson(value)}`);
  return `{${members.join(',')}}`;
}

export async function loadPeople(
  tx: Queryable,
  projectId: number,
  distinctIds: readonly string[],
): Promise<KnownPeople> {
  const links = await tx.query<{ distinct_id: string; person_id: number }>(
    'select distinct_id, person_id from person_distinct_ids where project_id = $1 and distinct_id = any($2::text[])',
    [projectId, distinctIds],
  );
  if (links.length === 0) return { persons: [], owners: new Map() };
  const rows = await tx.query<{
    id: number;
    uuid: string;
    properties: string;
    is_identified: boolean;
    created_at: string;
  }>('select id, uuid, properties, is_identified, created_at from persons where id = any($1::integer[])', [
    [...new Set(links.map(({ person_id }) => person_id))],
  ]);
  const uuids = new Map(rows.map((row) => [row.id, row.uuid]));
  const owners = new Map<string, string>();
  for (const link of links) {
    const uuid = uuids.get(link.person_id);
    if (uuid !== undefined) owners.set(link.distinct_id, uuid);
  }
  const persons = rows.map((row): Person => {
    const { value } = parseJson(row.properties);
    return {
      uuid: row.uuid,
      properties: toProperties(isJsonObject(value) ? value : {}),
      isIdentified: row.is_identified,
      createdAt: row.created_at,
    };
  });
  return { persons, owners };
}

/**
 * Writes the plan, one statement for each kind of change. New persons come before the ids that point to
 * them; ended ones go when their ids have moved.
 */
export async function savePeople(tx: Queryable, projectId: number, plan: PeoplePlan): Promise<void> {
  if (plan.created.length > 0) {
    await tx.query(
      `insert into persons (project_id, uuid, properties, is_identified, created_at)
       select $1, uuid, properties, is_identified, created_at
       from json_to_recordset($2::json)
         as t (uuid uuid, properties jsonb, is_identified boolean, created_at timestamptz)`,
      [projectId, personRows(plan.created)],
    );
  }
  if (plan.added.length > 0) {
    const rows = plan.added.map(({ distinctId, personUuid }) => ({
      distinct_id: distinctId,
      uuid: personUuid,
    }));
    await tx.query(
      `insert into person_distinct_ids (project_id, distinct_id, person_id)
       select $1, t.distinct_id, p.id
       from json_to_recordset($2::json) as t (distinct_id text, uuid uuid)
       join persons p on p.project_id = $1 and p.uuid = t.uuid`,
      [projectId, JSON.stringify(rows)],
    );
  }
  if (plan.updated.length > 0) {
    await tx.query(
      `update persons p
       set properties = t.properties, is_identified = t.is_identified, created_at = t.created_at
       from json_to_recordset($2::json)
         as t (uuid uuid, properties jsonb, is_identified boolean, created_at timestamptz)
       where p.project_id = $1 and p.uuid = t.uuid`,
      [projectId, personRows(plan.updated)],
    );
  }
  if (plan.merged.length > 0) {
    await tx.query(
      `update person_distinct_ids d set person_id = survivor.id
       from json_to_recordset($2::json) as t ("from" uuid, "into" uuid)
       join persons ended on ended.project_id = $1 and ended.uuid = t."from"
       join persons survivor on survivor.project_id = $1 and survivor.uuid = t."into"
       where d.person_id = ended.id`,
      [projectId, JSON.stringify(plan.merged)],
    );
    await tx.query('delete from persons where project_id = $1 and uuid = any($2::uuid[])', [
      projectId,
      plan.merged.map(({ from }) => from),
    ]);
  }
}

function personRows(persons: readonly Person[]): string {
  const rows = persons.map(
    ({ uuid, properties, isIdentified, createdAt }) =>
      `{"uuid":"${uuid}","properties":${mapText(properties)},"is_identified":${isIdentified},"created_at":"${createdAt}"}`,
  );
  return `[${rows.join(',')}]`;
}
