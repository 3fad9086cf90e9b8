import type { Queryable } from '../../src/api/database/db.ts';
import { createKey, type NewPersonalKey } from '../../src/api/keys.ts';

/** The text of a new personal key. */
export async function createPersonalKey(db: Queryable, wanted: NewPersonalKey): Promise<string> {
  return (await createKey(db, wanted)).token;
}
