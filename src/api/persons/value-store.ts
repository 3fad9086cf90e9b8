import type { Queryable } from '../database/db.ts';

export interface ValueCount {
  /** As text; of an array or an object its JSON. */
  readonly value: string;
  readonly isContainer: boolean;
  /** Persons who have it. */
  readonly count: number;
}

const MAX_VALUES = 20;

/** The values of a person property that most persons have; `part` is contained in any case. */
export function loadTopValues(
  db: Queryable,
  projectId: number,
  key: string,
  part: string | undefined,
): Promise<ValueCount[]> {
  return db.query<ValueCount>(
    `select v.value, bool_or(v.is_container) as "isContainer", count(*) as count
     from (
       select j #>> '{}' as value, jsonb_typeof(j) in ('array', 'object') as is_container
       from persons p cross join lateral (select p.properties -> $2::text offset 0) as property (j)
       where p.project_id = $1 and p.created_at < now() + interval '1 day'
     ) v
     where v.value <> '' and ($3::text is null or position(lower($3::text) in lower(v.value)) > 0)
     group by v.value order by count(*) desc, v.value collate "C" limit ${MAX_VALUES}`,
    [projectId, key, part || null],
  );
}
