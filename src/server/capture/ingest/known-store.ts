import { parseJson } from '../../../lib/json/parse-json.ts';
import { toTextArray, toUuidArray } from '../../database/binary-array.ts';
import type { Queryable } from '../../database/db.ts';
import { joinSql, runSql, type Sql, sql } from '../../database/sql.ts';
import { isJsonObject } from '../../http/json.ts';
import type { IncomingEvent } from '../incoming-event.ts';
import type { RowKey } from '../same-row.ts';
import { toProperties } from './person-changes.ts';
import { hasGroups } from './plan-groups.ts';
import { collectDistinctIds, type KnownPersons, type Person } from './plan-persons.ts';

/** What the database has of the events of a batch, of their persons and groups, before the batch. */
export interface Known {
  /** Events with one of the uuids. */
  readonly stored: readonly RowKey[];
  readonly persons: KnownPersons;
  /** Rows of these persons, by uuid. */
  readonly rowIds: ReadonlyMap<string, number>;
  /** Of the persons' properties as JSON, together. */
  readonly characters: number;
  /** Names of the project's group types, by index; empty where no event has a group. */
  readonly groupTypes: readonly string[];
}

/** A row of any kind; what another kind has is null. */
interface KnownRow {
  readonly kind: 'event' | 'link' | 'person' | 'group type';
  readonly uuid: string;
  readonly name: string;
  readonly distinctId: string;
  readonly number: number;
  readonly properties: string;
  readonly isIdentified: boolean;
  readonly createdAt: string;
}

/**
 * All in one statement: a statement costs a small batch more than its rows do. It only reads, so it need not wait for
 * the answer to the statement that locks the project, behind which it runs. One look into the index for each id
 * and uuid: without the fences (offset 0), and before the tables have statistics, Postgres takes what it finds by the
 * project alone, and reads every id and every event there is.
 */
export async function loadKnown(
  tx: Queryable,
  projectId: number,
  events: readonly IncomingEvent[],
): Promise<Known> {
  const distinctIds = toTextArray(collectDistinctIds(events));
  const kinds = [
    sql`select 'event' as kind, stored.uuid, stored.event as name, stored.distinct_id as "distinctId",
        stored.day as number, null::jsonb as properties, null::boolean as "isIdentified",
        null::timestamptz as "createdAt"
      from (${selectStored(projectId, events)}) as stored`,
    sql`select 'link', null, null, distinct_id, person_id, null, null, null from links`,
    sql`select 'person', uuid, null, null, id, properties, is_identified, created_at
      from persons where id = any(array(select person_id from links))`,
    ...(events.some(hasGroups)
      ? [
          sql`select 'group type', null, group_type, null, index, null, null, null
            from group_types where project_id = ${projectId}`,
        ]
      : []),
  ];
  const rows = await runSql<KnownRow>(
    tx,
    sql`select * from (
        with links as materialized (
          select link.distinct_id, link.person_id from unnest(${distinctIds}::text[]) as given (distinct_id)
          cross join lateral (
            select d.distinct_id, d.person_id from person_distinct_ids d
            where d.project_id = ${projectId} and d.distinct_id = given.distinct_id offset 0
          ) as link
        )
        ${joinSql(kinds, ' union all ')}
      ) as known`,
    { sendWith: 'begin' },
  );
  return toKnown(rows);
}

/** Events with these uuids. */
export function selectStored(projectId: number, events: readonly IncomingEvent[]): Sql {
  const uuids = toUuidArray(events.map(({ uuid }) => uuid));
  return sql`select found.uuid, found.event, found.distinct_id,
      floor(extract(epoch from found.timestamp) / 86400)::integer as day
    from (select distinct uuid from unnest(${uuids}::uuid[]) as given (uuid)) as sent
    cross join lateral (
      select e.uuid, e.event, e.distinct_id, e.timestamp from events e
      where e.project_id = ${projectId} and e.uuid = sent.uuid offset 0
    ) as found`;
}

function toKnown(rows: readonly KnownRow[]): Known {
  const stored: RowKey[] = [];
  const persons: Person[] = [];
  const rowIds = new Map<string, number>();
  const uuids = new Map<number, string>();
  const groupTypes: string[] = [];
  let characters = 0;
  for (const row of rows) {
    if (row.kind === 'event') {
      stored.push({ uuid: row.uuid, event: row.name, distinctId: row.distinctId, day: row.number });
    } else if (row.kind === 'group type') {
      groupTypes[row.number] = row.name;
    } else if (row.kind === 'person') {
      persons.push(toPerson(row));
      characters += row.properties.length;
      rowIds.set(row.uuid, row.number);
      uuids.set(row.number, row.uuid);
    }
  }
  const owners = new Map<string, string>();
  for (const { kind, distinctId, number } of rows) {
    const uuid = kind === 'link' ? uuids.get(number) : undefined;
    if (uuid !== undefined) owners.set(distinctId, uuid);
  }
  return { stored, persons: { persons, owners }, rowIds, characters, groupTypes };
}

function toPerson({ uuid, properties, isIdentified, createdAt }: KnownRow): Person {
  const value = parseJson(properties);
  return {
    uuid,
    properties: toProperties(isJsonObject(value) ? value : {}),
    isIdentified,
    createdAt,
    characters: properties.length,
  };
}
