import { parseJson } from '../../lib/json/parse-json.ts';
import type { Db, Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import { ApiError, invalidInput } from '../http/errors.ts';
import { loadAllCohorts } from '../query/definitions/cohort-store.ts';
import { type CompiledFlags, compileFlags } from './evaluate/compile-flags.ts';
import type { Flag } from './flag.ts';
import { parseFlag } from './parse-flag.ts';
import { readFilters } from './read-filters.ts';
import { loadFlags, type StoredFlag } from './store.ts';

/** What decisions of a project need, whoever asks. */
export interface ProjectFlags {
  readonly projectId: number;
  /** `projects.flags_version` when it was read. */
  readonly version: number;
  /** Active ones. */
  readonly compiled: CompiledFlags;
  /** Indexes of the types of groups, by name. */
  readonly groupTypes: ReadonlyMap<string, number>;
}

/** Projects whose flags are kept compiled; the one that was used longest ago goes first. */
const MAX_PROJECTS = 1000;

export interface FlagCache {
  /**
   * Those of this version or a later one, read again where the ones at hand are of another version: of an
   * older one, or of a later one that is gone because a backup of the database was restored.
   */
  load(projectId: number, version: number): Promise<ProjectFlags>;
  /** The last ones that were read: for decisions while the database is away. */
  findLast(projectId: number): ProjectFlags | undefined;
}

/** Compiled flags by project, kept until a definition changes. */
export function createFlagCache(db: Db): FlagCache {
  const projects = new Map<number, ProjectFlags>();
  const reading = new Map<number, Promise<ProjectFlags>>();

  async function read(projectId: number): Promise<ProjectFlags> {
    const known = reading.get(projectId) ?? readProjectFlags(db, projectId);
    reading.set(projectId, known);
    try {
      const flags = await known;
      keep(projectId, flags);
      return flags;
    } finally {
      if (reading.get(projectId) === known) reading.delete(projectId);
    }
  }

  function keep(projectId: number, flags: ProjectFlags): void {
    projects.delete(projectId);
    projects.set(projectId, flags);
    const [oldest] = projects.keys();
    if (projects.size > MAX_PROJECTS && oldest !== undefined) projects.delete(oldest);
  }

  return {
    async load(projectId, version) {
      const kept = projects.get(projectId);
      if (kept?.version === version) return kept;
      const newer = await read(projectId);
      // Another caller may have begun to read before the change that this one knows of.
      return newer.version >= version ? newer : read(projectId);
    },
    findLast: (projectId) => projects.get(projectId),
  };
}

async function readProjectFlags(db: Db, projectId: number): Promise<ProjectFlags> {
  return db.transaction(async (tx) => {
    // First: a change that is made while the rest is read makes it be read again.
    const [project] = await runSql<{ version: number }>(
      tx,
      sql`select flags_version as version from projects where id = ${projectId}::integer`,
    );
    const stored = (await loadFlags(tx, projectId)).filter(({ active }) => active);
    const types = await runSql<{ name: string; index: number }>(
      tx,
      sql`select group_type as name, index from group_types where project_id = ${projectId}::integer`,
    );
    return {
      projectId,
      version: project?.version ?? 0,
      compiled: await compileStored(tx, projectId, stored),
      groupTypes: new Map(types.map(({ name, index }) => [name, index])),
    };
  });
}

/** Of one project, or some of its flags. A definition that cannot be read any more makes its flag a broken one. */
export async function compileStored(
  db: Queryable,
  projectId: number,
  stored: readonly StoredFlag[],
): Promise<CompiledFlags> {
  const { flags, unreadable } = readAll(stored);
  const compiled = compileFlags(flags, await loadAllCohorts(db, projectId));
  return { ...compiled, broken: new Map([...compiled.broken, ...unreadable]) };
}

/** Definitions were read strictly when they were made; `unreadable` says by key why one cannot be read any more. */
export function readAll(stored: readonly StoredFlag[]): {
  readonly flags: readonly Flag[];
  readonly unreadable: ReadonlyMap<string, string>;
} {
  const flags: Flag[] = [];
  const unreadable = new Map<string, string>();
  for (const one of stored) {
    try {
      flags.push(readStored(one));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      unreadable.set(one.key, error.message);
    }
  }
  return { flags, unreadable };
}

/** @throws ApiError for a definition of another version that this one cannot read */
export function readStored({ id, key, version, keepsValue, filters }: StoredFlag): Flag {
  const read = readFilters(parseJson(filters), () => true);
  if (read.filters === undefined) {
    throw invalidInput(`The stored definition of "${key}" cannot be read.`, 'filters');
  }
  return parseFlag({ id, key, version, keepsValue, filters: read.filters });
}
