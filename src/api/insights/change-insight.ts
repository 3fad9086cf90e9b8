import type { Queryable } from '../database/db.ts';
import { notFound } from '../errors.ts';
import type { InsightAsker } from '../insight-body.ts';
import type { StoredInsight } from '../insight-port.ts';
import { normaliseTags } from '../normalise-tags.ts';
import type { ChangedInsightBody } from './schema.ts';
import { loadForChange, saveChanges } from './store.ts';

/** Changes what the body names. A deleted insight is not there, but for being brought back. */
export async function changeInsight(
  tx: Queryable,
  { projectId, userId }: Pick<InsightAsker, 'projectId' | 'userId'>,
  insightId: number,
  body: ChangedInsightBody,
): Promise<StoredInsight> {
  const before = await loadForChange(tx, projectId, insightId);
  if (before === undefined || (before.deleted && body.deleted !== false)) throw notFound();
  return saveChanges(tx, userId, {
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
