import { isDeepStrictEqual } from 'node:util';
import type { SeedCohort } from '../../../config/seed.ts';
import { ConfigError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/json/parse-json.ts';
import { lockProject } from '../capture/ingest/project-lock.ts';
import type { Queryable } from '../database/db.ts';
import { ApiError } from '../http/errors.ts';
import { type ChangeContext, changeIn, insertIn } from './change-cohort.ts';
import { type CountDeps, countMembers } from './count-cohorts.ts';
import { parseDefinition } from './parse-definition.ts';
import { loadCohortByName, type StoredCohort } from './store.ts';

/**
 * Makes the cohorts of a seed be there as they are declared, by name: new ones are made, others changed
 * where they differ, all or none. What is not declared is left alone. A declaration that cannot be is a
 * ConfigError that names it. Several processes may declare the same at once.
 */
export async function declareCohorts(
  deps: CountDeps,
  projectId: number,
  cohorts: readonly SeedCohort[],
): Promise<void> {
  const context = { projectId, userId: null, now: deps.now() };
  const changed = await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    const ids: number[] = [];
    for (const cohort of cohorts) ids.push(...(await declare(tx, context, cohort)));
    return ids;
  });
  for (const id of changed) await countMembers(deps, projectId, id);
}

/** The id of the cohort whose members may be others now. */
async function declare(tx: Queryable, context: ChangeContext, cohort: SeedCohort): Promise<number[]> {
  const stored = await loadCohortByName(tx, context.projectId, cohort.name);
  try {
    if (stored === undefined) return [await insertIn(tx, context, cohort)];
    if (isAsDeclared(stored, cohort)) return [];
    const { name: _, filters, ...rest } = cohort;
    const redefined = await changeIn(tx, context, stored.id, cohort.is_static ? rest : { ...rest, filters });
    return redefined ? [stored.id] : [];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ConfigError(`BACKHAUL_SEED: cohort "${cohort.name}": ${error.message}`, error);
  }
}

function isAsDeclared(stored: StoredCohort, { description, is_static, filters }: SeedCohort): boolean {
  const declared = is_static ? {} : parseDefinition({ filters }).filters;
  return (
    stored.description === description &&
    stored.isStatic === is_static &&
    isDeepStrictEqual(parseJson(stored.filters), declared)
  );
}
