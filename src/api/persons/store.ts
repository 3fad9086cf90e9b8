import type { Queryable } from '../database/db.ts';
import type { Page } from '../paging.ts';

export interface StoredPerson {
  readonly id: number;
  readonly uuid: string;
  /** JSON text. */
  readonly properties: string;
  readonly created_at: string;
  /** In the order they were first seen. */
  readonly distinct_ids: string[];
}

export interface PersonFilter {
  readonly distinctId?: string | undefined;
  readonly email?: string | undefined;
  readonly search?: string | undefined;
}

const PERSON_COLUMNS = `p.id, p.uuid, p.properties, p.created_at, coalesce(
  (select array_agg(d.distinct_id order by d.id) from person_distinct_ids d where d.person_id = p.id), '{}'
) as distinct_ids`;

/** Each filter is off while its parameter is null, which an empty one counts as. People dated more than a day ahead stay hidden. */
const FILTERED = `from persons p where p.project_id = $1
  and p.created_at < now() + interval '1 day'
  and ($2::text is null or p.id = (
    select person_id from person_distinct_ids where project_id = $1 and distinct_id = $2))
  and ($3::text is null or p.properties->>'email' = $3)
  and ($4::text is null
    or position(lower($4) in lower(p.properties->>'email')) > 0
    or p.uuid::text = lower($4)
    or p.id = (select person_id from person_distinct_ids where project_id = $1 and distinct_id = $4))`;

export async function loadPersons(
  db: Queryable,
  projectId: number,
  filter: PersonFilter,
  page: Page,
): Promise<{ count: number; persons: StoredPerson[] }> {
  const params = [projectId, filter.distinctId || null, filter.email || null, filter.search || null];
  const [total] = await db.query<{ count: number }>(`select count(*) as count ${FILTERED}`, params);
  const persons = await db.query<StoredPerson>(
    `select ${PERSON_COLUMNS} ${FILTERED}
     order by p.created_at desc, p.id desc limit $5::bigint offset $6::bigint`,
    [...params, page.limit, page.offset],
  );
  return { count: total?.count ?? 0, persons };
}

export async function loadPerson(
  db: Queryable,
  projectId: number,
  id: { readonly id: number } | { readonly uuid: string },
): Promise<StoredPerson | undefined> {
  const [column, value] = 'id' in id ? ['id', id.id] : ['uuid', id.uuid];
  const [person] = await db.query<StoredPerson>(
    `select ${PERSON_COLUMNS} from persons p where p.project_id = $1 and p.${column} = $2`,
    [projectId, value],
  );
  return person;
}
