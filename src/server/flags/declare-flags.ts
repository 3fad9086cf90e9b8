import { isDeepStrictEqual } from 'node:util';
import type { SeedFlag } from '../../../config/flags.ts';
import { ConfigError } from '../../lib/errors.ts';
import type { Db, Queryable } from '../database/db.ts';
import { ApiError } from '../http/errors.ts';
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

async function declare(tx: Queryable, context: ChangeContext, flag: SeedFlag): Promise<void> {
  try {
    const stored = await loadFlagByKey(tx, context.projectId, flag.key);
    if (stored === undefined) await createFlag(tx, context, flag);
    else if (!isAsDeclared(stored, flag)) await changeFlag(tx, context, stored.id, flag);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ConfigError(`BACKHAUL_SEED: flag "${flag.key}": ${error.message}`, error);
  }
}

const isAsDeclared = (stored: StoredFlag, flag: SeedFlag): boolean =>
  stored.name === flag.name &&
  stored.active === flag.active &&
  stored.keepsValue === flag.ensure_experience_continuity &&
  isDeepStrictEqual(parseStoredFilters(stored), flag.filters);
