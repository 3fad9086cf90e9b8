import { withTimeout } from '../../../lib/async/timeout.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import type { Db } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import { parseJsonObject } from '../../http/json.ts';
import type { Stored } from '../evaluate/facts.ts';

/** Whose decision is asked for. */
export interface Wanted {
  readonly projectKey: string;
  readonly distinctId: string;
  /** Keys of groups, by the name of their type. */
  readonly groups: ReadonlyMap<string, string>;
}

export interface Found {
  readonly projectId: number;
  readonly flagsVersion: number;
  readonly person: Stored;
  /** Identifiers that this person's values are computed from, by flag. */
  readonly hashKeys: ReadonlyMap<string, string>;
  /** By the name of their type. */
  readonly groups: ReadonlyMap<string, Stored>;
  /** Of all texts that it was read from. */
  readonly characters: number;
}

/** What is stored about a request; undefined where no project has its key. */
export type Lookup = (wanted: Wanted) => Promise<Found | undefined>;

/** Requests that one statement answers. */
export const MAX_TOGETHER = 200;

/**
 * Requests that come while a statement is under way are answered by the next one, all together: a statement
 * costs much more than a row of it. One that does not answer in time fails its requests and holds no others up.
 */
export function createLookup(db: Db, withinMs: number): Lookup {
  const tooLate = () => new UnavailableError(`The database did not answer within ${withinMs} ms.`);
  let waiting: {
    wanted: Wanted;
    resolve: (found: Found | undefined) => void;
    reject: (error: unknown) => void;
  }[] = [];
  let underWay = false;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MAX_TOGETHER);
      waiting = waiting.slice(MAX_TOGETHER);
      try {
        const wanted = batch.map((one) => one.wanted);
        const found = await withTimeout(loadAll(db, wanted), withinMs, tooLate);
        for (const [index, { resolve }] of batch.entries()) resolve(found[index]);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    underWay = false;
  }

  return (wanted) =>
    new Promise((resolve, reject) => {
      waiting.push({ wanted, resolve, reject });
      if (underWay) return;
      underWay = true;
      setImmediate(() => void run());
    });
}

interface Row {
  readonly n: number;
  readonly projectId: number;
  readonly flagsVersion: number;
  readonly properties: string | null;
  readonly cohorts: readonly number[] | null;
  readonly hashKeys: string | null;
}

async function loadAll(db: Db, wanted: readonly Wanted[]): Promise<(Found | undefined)[]> {
  const rows = await runSql<Row>(
    db,
    sql`select w.n::integer as n, p.id as "projectId", p.flags_version as "flagsVersion", o.properties,
        case when o.id is not null
          then array(select cohort_id from cohort_members m where m.person_id = o.id) end as cohorts,
        (select json_object_agg(k.flag_key, k.hash_key) from flag_hash_keys k where k.person_id = o.id) as "hashKeys"
      from unnest(${wanted.map(({ projectKey }) => projectKey)}::text[],
          ${wanted.map(({ distinctId }) => distinctId)}::text[]) with ordinality as w (key, distinct_id, n)
      join projects p on p.api_token = w.key
      left join person_distinct_ids d on d.project_id = p.id and d.distinct_id = w.distinct_id
      left join persons o on o.id = d.person_id`,
  );
  const groups = await loadGroups(db, wanted, rows);
  const found: (Found | undefined)[] = wanted.map(() => undefined);
  for (const { n, projectId, flagsVersion, properties, cohorts, hashKeys } of rows) {
    const ofGroups = groups.get(n);
    found[n - 1] = {
      projectId,
      flagsVersion,
      person:
        properties === null
          ? NOBODY
          : { kind: 'found', properties: parseJsonObject(properties), cohorts: new Set(cohorts ?? []) },
      hashKeys: readHashKeys(hashKeys),
      groups: ofGroups?.stored ?? NO_GROUPS,
      characters:
        (properties?.length ?? 0) +
        (hashKeys?.length ?? 0) +
        (cohorts?.length ?? 0) * COHORT_CHARACTERS +
        (ofGroups?.characters ?? 0),
    };
  }
  return found;
}

/** A member of a set takes about as much. */
const COHORT_CHARACTERS = 10;
const NOBODY = { kind: 'none' } as const;
const NO_GROUPS: ReadonlyMap<string, Stored> = new Map();
const NO_HASH_KEYS: ReadonlyMap<string, string> = new Map();

function readHashKeys(text: string | null): ReadonlyMap<string, string> {
  if (text === null) return NO_HASH_KEYS;
  return new Map(Object.entries(parseJsonObject(text)).map(([key, value]) => [key, String(value)]));
}

interface FoundGroups {
  readonly stored: Map<string, Stored>;
  characters: number;
}

/** Groups of all requests, by the number of the request. */
async function loadGroups(
  db: Db,
  wanted: readonly Wanted[],
  rows: readonly Row[],
): Promise<ReadonlyMap<number, FoundGroups>> {
  const asked = rows.flatMap(({ n, projectId }) =>
    [...(wanted[n - 1]?.groups ?? [])].map(([type, key]) => ({ n, projectId, type, key })),
  );
  const groups = new Map<number, FoundGroups>();
  if (asked.length === 0) return groups;
  const found = await runSql<{ n: number; type: string; properties: string }>(
    db,
    sql`select w.n, t.group_type as type, g.properties
      from unnest(${asked.map(({ n }) => n)}::integer[], ${asked.map(({ projectId }) => projectId)}::integer[],
          ${asked.map(({ type }) => type)}::text[], ${asked.map(({ key }) => key)}::text[]) as w (n, project, type, key)
      join group_types t on t.project_id = w.project and t.group_type = w.type
      join groups g on g.project_id = w.project and g.group_type_index = t.index and g.group_key = w.key`,
  );
  for (const { n, type, properties } of found) {
    const ofRequest = groups.get(n) ?? { stored: new Map<string, Stored>(), characters: 0 };
    groups.set(n, ofRequest);
    ofRequest.stored.set(type, {
      kind: 'found',
      properties: parseJsonObject(properties),
      cohorts: new Set(),
    });
    ofRequest.characters += type.length + properties.length;
  }
  return groups;
}
