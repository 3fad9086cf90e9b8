import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';

export interface PersonEvent {
  readonly uuid: string;
  readonly event: string;
  /** ISO 8601. */
  readonly timestamp: string;
  /** The same with all its digits. */
  readonly exactTime: string;
  /** JSON text. */
  readonly properties: string;
}

const PAGE = 1000;

/** Events of a person before a moment in order of time, a page at a time. */
export async function* readPersonEvents(
  db: Queryable,
  projectId: number,
  distinctIds: readonly string[],
  until: string,
): AsyncGenerator<readonly PersonEvent[], void, undefined> {
  let after = { exactTime: '-infinity', uuid: '00000000-0000-0000-0000-000000000000' };
  for (;;) {
    const events: PersonEvent[] = await runSql<PersonEvent>(
      db,
      sql`select e.uuid, e.event, e.timestamp, e.timestamp::text as "exactTime", e.properties
        from events e
        where e.project_id = ${projectId}::integer and e.distinct_id = any(${distinctIds}::text[])
          and e.timestamp < ${until}::timestamptz
          and e.timestamp >= ${after.exactTime}::timestamptz
          and (e.timestamp, e.uuid) > (${after.exactTime}::timestamptz, ${after.uuid}::uuid)
        order by e.timestamp, e.uuid limit ${PAGE}::integer`,
    );
    yield events;
    const last = events.at(-1);
    if (last === undefined || events.length < PAGE) return;
    after = last;
  }
}
