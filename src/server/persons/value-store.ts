import type { Db } from '../database/db.ts';
import { runSql, type Sql, sql } from '../database/sql.ts';
import { searchInTime } from './search-in-time.ts';

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
  db: Db,
  projectId: number,
  key: string,
  part: string | undefined,
): Promise<ValueCount[]> {
  const wanted = part ? sql`position(lower(${part}::text) in lower(v.value)) > 0` : sql`true`;
  const select = (guard: Sql) =>
    sql`select v.value, bool_or(v.is_container) as "isContainer", count(*) as count
      from (
        select j #>> '{}' as value, jsonb_typeof(j) in ('array', 'object') as is_container
        from persons p cross join lateral (select p.properties -> ${key}::text offset 0) as property (j)
        where p.project_id = ${projectId}::integer and p.created_at < now() + interval '1 day' and ${guard}
      ) v
      where v.value <> '' and ${wanted}
      group by v.value order by count(*) desc, v.value collate "C" limit ${MAX_VALUES}::bigint`;
  return searchInTime(db, (tx, guard) => runSql<ValueCount>(tx, select(guard)));
}
