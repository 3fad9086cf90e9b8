import { isDeepStrictEqual } from 'node:util';
import { insertIn } from '../../cohorts/change-cohort.ts';
import { parseDefinition } from '../../cohorts/parse-definition.ts';
import { loadCohortByName } from '../../cohorts/store.ts';
import type { Db, Queryable } from '../../database/db.ts';
import { runSql, sql } from '../../database/sql.ts';
import { ApiError } from '../../http/errors.ts';
import { isJsonObject, type JsonObject } from '../../http/json.ts';
import { cohortIdsIn } from '../../query/definitions/cohort-definition.ts';
import { type ChangeContext, changeFlag, createFlag, parseStoredFilters } from '../change-flag.ts';
import { loadFlagByKey } from '../store.ts';
import { type ExportedFlag, type FlagExport, readExport } from './read-export.ts';
import {
  listCohortIds,
  type Names,
  sortByDependency,
  translateFilters,
  UntranslatableError,
} from './translate.ts';

/** What became of each flag of an export, by key. */
export interface Takeover {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: readonly string[];
  /** Flags that cannot be expressed here, and why. They are left as they were. */
  readonly refused: readonly { readonly key: string; readonly why: string }[];
  /** What of a flag that was taken has no effect here. */
  readonly notes: readonly { readonly key: string; readonly note: string }[];
}

/**
 * Takes definitions over from another service: flags of the same key are changed, the others are made. Cohorts
 * that they name are found by name, or made where the export has their conditions. One flag that cannot be
 * expressed keeps no other from being taken, and each is saved by itself, so that captures come between.
 * `dryRun`: the same report, and nothing is kept.
 */
export async function takeOverFlags(
  db: Db,
  context: ChangeContext & { readonly now: number },
  given: unknown,
  dryRun: boolean,
): Promise<Takeover> {
  const from = readExport(given);
  if (!dryRun) return takeOverWith((work) => db.transaction(work), context, from);
  try {
    return await db.transaction(async (tx) => {
      throw new DryRunEnd(await takeOverWith((work) => withSavepoint(tx, work), context, from));
    });
  } catch (error) {
    if (error instanceof DryRunEnd) return error.report;
    throw error;
  }
}

/** Runs a piece of work and undoes it where it throws. */
type Run = <T>(work: (tx: Queryable) => Promise<T>) => Promise<T>;

/** Rolls the transaction back. */
class DryRunEnd extends Error {
  readonly report: Takeover;

  constructor(report: Takeover) {
    super('the end of a dry run');
    this.report = report;
  }
}

async function takeOverWith(
  run: Run,
  context: ChangeContext & { readonly now: number },
  from: FlagExport,
): Promise<Takeover> {
  const names = {
    groupTypes: await run((tx) => loadGroupTypes(tx, context.projectId)),
    cohorts: await findCohorts(run, context, from),
  };
  const report: Draft = { created: [], changed: [], unchanged: [], refused: [], notes: [] };
  for (const flag of sortByDependency(from.flags)) {
    const outcome = await attempt(run, (tx) => take(tx, context, flag, from, names));
    if (typeof outcome === 'object') report.refused.push({ key: flag.key, why: outcome.why });
    else {
      report[outcome].push(flag.key);
      for (const note of flag.notes) report.notes.push({ key: flag.key, note });
    }
  }
  return report;
}

type Draft = {
  readonly [K in keyof Takeover]: Takeover[K] extends readonly (infer T)[] ? T[] : never;
};

interface Refused {
  readonly why: string;
}

async function attempt<T>(run: Run, work: (tx: Queryable) => Promise<T>): Promise<T | Refused> {
  try {
    return await run(work);
  } catch (error) {
    if (error instanceof UntranslatableError || error instanceof ApiError) return { why: error.message };
    throw error;
  }
}

async function withSavepoint<T>(tx: Queryable, work: (tx: Queryable) => Promise<T>): Promise<T> {
  await runSql(tx, sql`savepoint taken_over`);
  try {
    const result = await work(tx);
    await runSql(tx, sql`release savepoint taken_over`);
    return result;
  } catch (error) {
    await runSql(tx, sql`rollback to savepoint taken_over`);
    throw error;
  }
}

async function take(
  tx: Queryable,
  context: ChangeContext,
  flag: ExportedFlag,
  from: FlagExport,
  names: Names,
): Promise<'created' | 'changed' | 'unchanged' | Refused> {
  if (flag.fault !== undefined) return { why: flag.fault };
  const { key, name, active, keepsValue } = flag;
  const filters = translateFilters(flag, from, names);
  const wanted = { key, name, active, ensure_experience_continuity: keepsValue, filters };
  const stored = await loadFlagByKey(tx, context.projectId, key);
  if (stored === undefined) {
    await createFlag(tx, context, wanted);
    return 'created';
  }
  const isSame =
    stored.name === name &&
    stored.active === active &&
    stored.keepsValue === keepsValue &&
    isDeepStrictEqual(parseStoredFilters(stored), filters);
  if (isSame) return 'unchanged';
  await changeFlag(tx, context, stored.id, wanted);
  return 'changed';
}

async function loadGroupTypes(tx: Queryable, projectId: number): Promise<Map<string, number>> {
  const rows = await runSql<{ name: string; index: number }>(
    tx,
    sql`select group_type as name, index from group_types where project_id = ${projectId}::integer`,
  );
  return new Map(rows.map(({ name, index }) => [name, index]));
}

/** Ids here by ids there, of the cohorts that flags name. */
async function findCohorts(
  run: Run,
  context: ChangeContext & { readonly now: number },
  from: FlagExport,
): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const id of listCohortIds(from)) {
    const cohort = from.cohorts.get(id);
    if (cohort === undefined) continue;
    const name = typeof cohort['name'] === 'string' ? cohort['name'] : `Cohort ${id} of the export`;
    const made = await attempt(run, async (tx) => {
      const known = await loadCohortByName(tx, context.projectId, name);
      return known?.id ?? (await makeCohort(tx, context, name, cohort));
    });
    if (typeof made === 'number') found.set(id, made);
  }
  return found;
}

/** Not a static one, nor one of other cohorts, whose ids mean others here. */
function makeCohort(
  tx: Queryable,
  context: ChangeContext & { readonly now: number },
  name: string,
  cohort: JsonObject,
): Promise<number> {
  if (cohort['is_static'] === true) throw new UntranslatableError('it is static');
  const filters = isJsonObject(cohort['filters']) ? cohort['filters'] : { properties: cohort };
  const { filter } = parseDefinition({ filters });
  if (cohortIdsIn(filter).length > 0) throw new UntranslatableError('it is made of other cohorts');
  return insertIn(tx, context, { name, filters });
}
