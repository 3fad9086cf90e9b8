import { cutId } from '../../capture/request/parse-event.ts';
import type { Db } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import type { ProjectFlags } from '../project-flags.ts';
import type { Found } from './lookup.ts';
import type { AskedFlags } from './request.ts';

/** Whether a decision has identifiers to store first (keepHashKeys). */
export function lacksHashKeys(
  { compiled }: ProjectFlags,
  { hashKeys }: Pick<Found, 'hashKeys'>,
  { anonymousId }: Pick<AskedFlags, 'anonymousId'>,
): boolean {
  if (!compiled.keepValues || anonymousId === undefined) return false;
  return compiled.flags.some(({ keepsValue, key }) => keepsValue && !hashKeys.has(key));
}

/**
 * Identifiers that flags with a lasting value are decided by, of the person who asks. A client that has just
 * identified somebody names the id of before: for each such flag that id is kept, for every person who owns one
 * of the two ids, and the first that is kept stays. Of a request without it nothing is written.
 */
export async function keepHashKeys(
  db: Db,
  project: ProjectFlags,
  found: Found,
  request: AskedFlags,
): Promise<ReadonlyMap<string, string>> {
  const { anonymousId, distinctId } = request;
  if (anonymousId === undefined || !lacksHashKeys(project, found, request)) return found.hashKeys;
  const { projectId, compiled } = project;
  const keys = compiled.flags.filter(({ keepsValue }) => keepsValue).map(({ key }) => key);
  const ids = [distinctId, anonymousId].map(cutId);
  const load = () =>
    runSql<HashKeyRow>(
      db,
      sql`select f.key, k.hash_key as "hashKey"
        from person_distinct_ids d cross join unnest(${keys}::text[]) as f (key)
        left join flag_hash_keys k on k.person_id = d.person_id and k.flag_key = f.key
        where d.project_id = ${projectId}::integer and d.distinct_id = any(${ids}::text[])
        order by d.distinct_id = ${cutId(distinctId)}::text`,
    );
  const known = await load();
  // A statement that stores nothing would count as a change, and let go of every kept answer.
  if (known.every(({ hashKey }) => hashKey !== null)) return toHashKeys(known);
  await runSql(
    db,
    sql`insert into flag_hash_keys (person_id, flag_key, hash_key)
      select distinct d.person_id, f.key, ${anonymousId}::text
      from person_distinct_ids d cross join unnest(${keys}::text[]) as f (key)
      where d.project_id = ${projectId}::integer and d.distinct_id = any(${ids}::text[])
      on conflict do nothing`,
  );
  return toHashKeys(await load());
}

/** Of a person who owns one of the two ids; that of the distinct id goes last. */
interface HashKeyRow {
  readonly key: string;
  readonly hashKey: string | null;
}

/** The later row of a flag counts. */
const toHashKeys = (rows: readonly HashKeyRow[]): Map<string, string> =>
  new Map(rows.flatMap(({ key, hashKey }) => (hashKey === null ? [] : [[key, hashKey] as const])));
