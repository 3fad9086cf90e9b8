import type { Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import { MAX_PROFILE_CHARACTERS } from '../limits.ts';
import type { GroupsPlan, GroupUpdate } from './plan-groups.ts';

export async function saveGroups(tx: Queryable, projectId: number, plan: GroupsPlan): Promise<void> {
  if (plan.newTypes.length > 0) {
    const types = JSON.stringify(plan.newTypes.map(({ groupType, index }) => ({ g: groupType, i: index })));
    await runSql(
      tx,
      sql`insert into group_types (project_id, group_type, index)
        select ${projectId}, g, i from json_to_recordset(${types}::json) as t (g text, i smallint)`,
    );
  }
  for (const groups of cutRounds(plan.groups)) {
    const rows = groups.map(
      ({ typeIndex, key, propertiesText, createdAt }) =>
        `{"index":${typeIndex},"key":${JSON.stringify(key)},"properties":${propertiesText},"created_at":"${createdAt}"}`,
    );
    await runSql(
      tx,
      sql`insert into groups (project_id, group_type_index, group_key, properties, created_at)
        select ${projectId}, index, key, properties, created_at
        from json_to_recordset(${`[${rows.join(',')}]`}::json)
          as t (index smallint, key text, properties jsonb, created_at timestamptz)
        on conflict (project_id, group_type_index, group_key) do update
        set properties = case
            when octet_length((groups.properties || excluded.properties)::text)
              > ${MAX_PROFILE_CHARACTERS}::integer then groups.properties
            else groups.properties || excluded.properties end,
          created_at = least(groups.created_at, excluded.created_at)`,
    );
  }
}

/** One statement updates a row once: the second update of a group is for the second round. */
function cutRounds(all: readonly GroupUpdate[]): GroupUpdate[][] {
  const rounds: GroupUpdate[][] = [];
  const seen = new Map<string, number>();
  for (const update of all) {
    const id = `${update.typeIndex} ${update.key}`;
    const round = seen.get(id) ?? 0;
    seen.set(id, round + 1);
    const updates = rounds[round] ?? [];
    updates.push(update);
    rounds[round] = updates;
  }
  return rounds;
}
