import { isDeepStrictEqual } from 'node:util';
import type { FlagFilters, SeedFlag } from '../../../config/flags.ts';
import { ConfigError } from '../../lib/errors.ts';
import { loadCohortByName } from '../cohorts/store.ts';
import type { Db, Queryable } from '../database/db.ts';
import { ApiError, invalidInput } from '../http/errors.ts';
import { type ChangeContext, changeFlag, createFlag, parseStoredFilters } from './change-flag.ts';
import { loadFlagByKey, type StoredFlag } from './store.ts';

/**
 * Makes the flags of a seed be there as they are declared, by key: new ones are made, others changed where they
 * differ, all or none. What is not declared is left alone. A declaration that cannot be is a ConfigError that
 * names it.
 */
export async function declareFlags(db: Db, projectId: number, flags: readonly SeedFlag[]): Promise<void> {
  const context = { projectId, userId: null };
  await db.transaction(async (tx) => {
    for (const flag of flags) await declare(tx, context, flag);
  });
}

async function declare(tx: Queryable, context: ChangeContext, declared: SeedFlag): Promise<void> {
  try {
    const flag = { ...declared, filters: await nameCohorts(tx, context.projectId, declared.filters) };
    const stored = await loadFlagByKey(tx, context.projectId, flag.key);
    if (stored === undefined) await createFlag(tx, context, flag);
    else if (!isAsDeclared(stored, flag)) await changeFlag(tx, context, stored.id, flag);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ConfigError(`BACKHAUL_SEED: flag "${declared.key}": ${error.message}`, error);
  }
}

/** Cohorts by their ids: a seed names them, because their ids are known only once they are made. */
async function nameCohorts(tx: Queryable, projectId: number, filters: FlagFilters): Promise<FlagFilters> {
  const ids = new Map<string, number>();
  for (const name of listCohortNames(filters)) {
    const cohort = await loadCohortByName(tx, projectId, name);
    if (cohort === undefined) throw invalidInput(`There is no cohort "${name}".`, 'filters');
    ids.set(name, cohort.id);
  }
  return {
    ...filters,
    ...(filters.groups
      ? {
          groups: filters.groups.map((group) =>
            group.properties
              ? {
                  ...group,
                  properties: group.properties.map((property) =>
                    isNamedCohort(property) ? { ...property, value: ids.get(property.value) } : property,
                  ),
                }
              : group,
          ),
        }
      : {}),
  };
}

const listCohortNames = ({ groups }: FlagFilters): string[] =>
  (groups ?? []).flatMap(({ properties }) =>
    (properties ?? []).flatMap((property) => (isNamedCohort(property) ? [property.value] : [])),
  );

const isNamedCohort = <P extends { readonly type?: unknown; readonly value?: unknown }>(
  property: P,
): property is P & { value: string } =>
  property.type === 'cohort' && typeof property.value === 'string' && !/^\d+$/.test(property.value);

const isAsDeclared = (stored: StoredFlag, flag: SeedFlag): boolean =>
  stored.name === flag.name &&
  stored.active === flag.active &&
  stored.keepsValue === flag.ensure_experience_continuity &&
  isDeepStrictEqual(parseStoredFilters(stored), flag.filters);
