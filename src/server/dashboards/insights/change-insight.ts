import type { Caller } from '../../auth/access.ts';
import type { Queryable } from '../../database/db.ts';
import { notFound, permissionDenied } from '../../http/errors.ts';
import { normaliseTags } from '../../http/tags.ts';
import type { StoredInsight } from '../../insights/store.ts';
import { loadForChange, saveChanges } from '../../insights/store.ts';
import { checkReferences } from '../../query/definitions/check-references.ts';
import { computeLevels, mayEdit } from './levels.ts';
import { loadInsightPlaces, lockInsightPlaces } from './places.ts';
import type { ChangedInsightBody } from './schema.ts';

/**
 * Changes the fields that the body names. A deleted insight can only be restored. The permissions of its
 * dashboards are read once they and the insight are locked: a tile that is added meanwhile waits for the
 * insight, and one that was added between the two locks is seen.
 */
export async function changeInsight(
  tx: Queryable,
  caller: Caller,
  insightId: number,
  body: ChangedInsightBody,
): Promise<StoredInsight> {
  await lockInsightPlaces(tx, caller.projectId, [insightId]);
  const before = await loadForChange(tx, caller.projectId, insightId);
  if (!mayEdit(computeLevels(insightId, await loadInsightPlaces(tx, caller, [insightId])))) {
    throw permissionDenied("You don't have edit permissions for this insight.");
  }
  if (before === undefined || (before.deleted && body.deleted !== false)) throw notFound();
  await checkInsight(tx, caller.projectId, body);
  return saveChanges(tx, caller.userId, {
    ...before,
    name: body.name === undefined ? before.name : body.name,
    derivedName: body.derived_name === undefined ? before.derivedName : body.derived_name,
    description: body.description === undefined ? before.description : body.description,
    filters: body.filters ?? before.filters,
    query: body.query === undefined ? before.query : body.query,
    tags: body.tags ? normaliseTags(body.tags) : before.tags,
    saved: body.saved ?? before.saved,
    favorited: body.favorited ?? before.favorited,
    deleted: body.deleted ?? before.deleted,
  });
}

/** Refuses (400) what an insight must not be written with. */
export async function checkInsight(
  db: Queryable,
  projectId: number,
  { filters, query }: Pick<ChangedInsightBody, 'filters' | 'query'>,
): Promise<void> {
  await checkReferences(db, projectId, filters, 'filters');
  await checkReferences(db, projectId, query, 'query');
}
