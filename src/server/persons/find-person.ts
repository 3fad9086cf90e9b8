import type { Context } from 'hono';
import type { ApiEnv } from '../auth/access.ts';
import type { Db } from '../database/db.ts';
import { parsePersonId, personNotFound } from './person-id.ts';
import { loadPerson, type StoredPerson } from './store.ts';

/** The person whom the path of a request names, or a refusal: 400 for no id at all, 404 for nobody. */
export async function findPerson(db: Db, c: Context<ApiEnv>): Promise<StoredPerson> {
  const person = await loadPerson(db, c.get('project').id, parsePersonId(c.req.param('id') ?? ''));
  if (person === undefined) throw personNotFound();
  return person;
}
