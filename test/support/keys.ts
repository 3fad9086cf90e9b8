import { createKey, type NewPersonalKey } from '../../src/server/auth/keys.ts';
import type { Queryable } from '../../src/server/database/db.ts';

/** The text of a new personal key. */
export async function createPersonalKey(db: Queryable, wanted: NewPersonalKey): Promise<string> {
  return (await createKey(db, wanted)).token;
}
