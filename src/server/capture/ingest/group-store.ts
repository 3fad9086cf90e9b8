import type { Queryable } from '../../database/db.ts';
import { MAX_PROFILE_CHARACTERS } from '../limits.ts';
import type { GroupsPlan } from './plan-groups.ts';

/** Names of the project's group types, by index. */
export async function loadGroupTypes(tx: Queryable, projectId: number): Promise<string[]> {
  const rows = await tx.query<{ group_type: string }>(
    'select group_type from group_types where project_id = $1 order by index',
    [projectId],
  );
  return rows.map(({ group_type }) => group_type);
}

export async function saveGroups(tx: Queryable, projectId: number, plan: GroupsPlan): Promise<void> {
  if (plan.newTypes.length > 0) {
    await tx.query(
      `insert into group_types (project_id, group_type, index)
       select $1, t.group_type, t.index from json_to_recordset($2::json) as t (group_type text, index smallint)`,
      [
        projectId,
        JSON.stringify(plan.newTypes.map(({ groupType, index }) => ({ group_type: groupType, index }))),
      ],
    );
  }
  if (plan.groups.length > 0) {
    const rows = plan.groups.map(
      ({ typeIndex, key, propertiesText, createdAt }) =>
        `{"index":${typeIndex},"key":${JSON.stringify(key)},"properties":${propertiesText},"created_at":"${createdAt}"}`,
    );
    await tx.query(
      `insert into groups (project_id, group_type_index, group_key, properties, created_at)
       select $1, index, key, properties, created_at
       from json_to_recordset($2::json)
         as t (index smallint, key text, properties jsonb, created_at timestamptz)
       on conflict (project_id, group_type_index, group_key) do update
       set properties = case
           when octet_length((groups.properties || excluded.properties)::text) > $3 then groups.properties
           else groups.properties || excluded.properties end,
         created_at = least(groups.created_at, excluded.created_at)`,
      [projectId, `[${rows.join(',')}]`, MAX_PROFILE_CHARACTERS],
    );
  }
}
