import { withTimeout } from '../../../lib/async/timeout.ts';
import { UnavailableError } from '../../../lib/errors.ts';
import { loadProjectByKey } from '../../auth/projects.ts';
import { unknownProjectKey } from '../../capture/refusal.ts';
import { cutId } from '../../capture/request/parse-event.ts';
import type { Db } from '../../database/db.ts';
import { isOutage } from '../../database/outage.ts';
import type { JsonObject } from '../../http/json.ts';
import { type Decisions, decideFlags } from '../evaluate/decide.ts';
import { type Explanation, explainFlag } from '../evaluate/explain.ts';
import type { Facts, Stored, Subject } from '../evaluate/facts.ts';
import { createFlagCache, type FlagCache, type ProjectFlags } from '../project-flags.ts';
import { keepHashKeys, lacksHashKeys } from './hash-keys.ts';
import { createKept, type Kept, LOOKUP_TABLES } from './kept.ts';
import { createLookup, type Found, type Wanted } from './lookup.ts';
import type { AskedFlags } from './request.ts';

/** A client waits for its flags before it shows a page. */
const STORE_WITHIN_MS = 2000;
/** Characters of what is kept of persons and groups; their values take several times as much. */
const MAX_FOUND_CHARACTERS = 8 * 1024 * 1024;
const MAX_ANSWER_CHARACTERS = 16 * 1024 * 1024;
/** Projects whose keys are remembered for the time the database is away. */
const MAX_KEYS = 1000;

export interface Decider {
  /** Texts of answers that last, by the whole question. */
  readonly answers: Kept<string>;
  /** @throws ApiError 401 for a key that no project has */
  check(projectKey: string): Promise<void>;
  /** @throws ApiError 401 for a key that no project has */
  decide(projectKey: string, request: AskedFlags, location: JsonObject): Promise<Decided>;
  /** Why somebody gets what they get of one flag; undefined where the project has no such active flag. */
  explain(projectKey: string, request: AskedFlags, key: string): Promise<Explanation | undefined>;
}

export interface Decided {
  readonly project: ProjectFlags;
  readonly decisions: Decisions;
  /** Whether the same question has the same answer until something that is stored changes. */
  readonly lasts: boolean;
}

interface DeciderDeps {
  readonly db: Db;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** @default 2000 */
  readonly storeWithinMs?: number;
}

/** Decides flags; without the database those that need nothing from it, as they were last defined. */
export function createDecider({ db, now, storeWithinMs = STORE_WITHIN_MS }: DeciderDeps): Decider {
  const lookup = createLookup(db, storeWithinMs);
  const countChanges = db.watch(LOOKUP_TABLES);
  const kept = createKept<Found>(countChanges, MAX_FOUND_CHARACTERS);
  const cache = createFlagCache(db);
  const projectIds = new Map<string, number>();
  const tooLate = () => new UnavailableError(`The database did not answer within ${storeWithinMs} ms.`);

  async function askStore(projectKey: string, request: AskedFlags): Promise<[ProjectFlags, Found]> {
    const wanted = toWanted(projectKey, request);
    const keep = kept.begin();
    const found = await lookup(wanted);
    if (found === undefined) {
      projectIds.delete(projectKey);
      throw unknownProjectKey();
    }
    keep(toKey(wanted), found, found.characters);
    if (projectIds.size >= MAX_KEYS) projectIds.clear();
    projectIds.set(projectKey, found.projectId);
    const project = await cache.load(found.projectId, found.flagsVersion);
    return [project, { ...found, hashKeys: await keepHashKeys(db, project, found, request) }];
  }

  /** Undefined where the database has to be asked. */
  function findKept(
    projectKey: string,
    request: AskedFlags,
  ): { project: ProjectFlags; found: Found } | undefined {
    const found = kept.find(toKey(toWanted(projectKey, request)));
    const project = found && cache.findLast(found.projectId);
    // Those of a later version are gone where a backup was restored.
    if (project === undefined || project.version !== found?.flagsVersion) return undefined;
    return lacksHashKeys(project, found, request) ? undefined : { project, found };
  }

  async function gather(
    projectKey: string,
    request: AskedFlags,
    location: JsonObject,
  ): Promise<{ project: ProjectFlags; facts: Facts }> {
    const known = findKept(projectKey, request);
    if (known !== undefined) {
      return { project: known.project, facts: toFacts(known.project, request, location, now(), known.found) };
    }
    try {
      const [project, found] = await withTimeout(askStore(projectKey, request), storeWithinMs, tooLate);
      return { project, facts: toFacts(project, request, location, now(), found) };
    } catch (error) {
      const project = isOutage(error) ? findLast(cache, projectIds.get(projectKey)) : undefined;
      if (project === undefined) throw error;
      return { project, facts: toFacts(project, request, location, now(), undefined) };
    }
  }

  return {
    answers: createKept(countChanges, MAX_ANSWER_CHARACTERS),
    async check(projectKey) {
      try {
        const project = await withTimeout(loadProjectByKey(db, projectKey), storeWithinMs, tooLate);
        if (project !== undefined) return;
      } catch (error) {
        if (isOutage(error) && projectIds.has(projectKey)) return;
        throw error;
      }
      projectIds.delete(projectKey);
      throw unknownProjectKey();
    },
    async decide(projectKey, request, location) {
      const { project, facts } = await gather(projectKey, request, location);
      const lasts = !project.compiled.asksTime && facts.person.stored.kind !== 'unavailable';
      return { project, decisions: decideFlags(project.compiled, facts, request.only), lasts };
    },
    async explain(projectKey, request, key) {
      const { project, facts } = await gather(projectKey, request, {});
      return explainFlag(project.compiled, key, facts);
    },
  };
}

const findLast = (cache: FlagCache, projectId: number | undefined): ProjectFlags | undefined =>
  projectId === undefined ? undefined : cache.findLast(projectId);

/** Ingestion cuts ids, so whoever has a longer one is stored under its beginning. */
const toWanted = (projectKey: string, { distinctId, groups }: AskedFlags): Wanted => ({
  projectKey,
  distinctId: cutId(distinctId),
  groups,
});

/** A project key is printable ASCII, so it ends where the line does. */
function toKey({ projectKey, distinctId, groups }: Wanted): string {
  const person = `${projectKey}\n${distinctId}`;
  return groups.size === 0 ? person : JSON.stringify([person, ...groups]);
}

const UNAVAILABLE: Stored = { kind: 'unavailable' };
const NOBODY: Stored = { kind: 'none' };

/** `found`: undefined while the database is away. */
function toFacts(
  { groupTypes }: ProjectFlags,
  { distinctId, personProperties, groups, groupProperties }: AskedFlags,
  location: JsonObject,
  now: number,
  found: Found | undefined,
): Facts {
  const subjects = new Map<number, Subject>();
  for (const [type, key] of groups) {
    const index = groupTypes.get(type);
    if (index === undefined) continue;
    const stored = found === undefined ? UNAVAILABLE : (found.groups.get(type) ?? NOBODY);
    const given = { $group_key: key, ...groupProperties.get(type) };
    subjects.set(index, { identifier: key, stored, given, now });
  }
  return {
    person: {
      identifier: distinctId,
      stored: found?.person ?? UNAVAILABLE,
      given: { distinct_id: distinctId, ...location, ...personProperties },
      now,
    },
    groups: subjects,
    hashKeys: found?.hashKeys ?? 'unavailable',
  };
}
