import { type Activity, recordActivity } from '../activity/activity-log.ts';
import type { Caller } from '../auth/access.ts';
import type { Queryable } from '../database/db.ts';
import { sameJson } from '../http/json.ts';
import type { StoredDashboard } from './store.ts';

/** One field that came to hold something else. */
export interface Change {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** `changes` null: the thing as a whole, as when it was made. */
export async function recordChange(
  tx: Queryable,
  caller: Caller,
  dashboard: Pick<StoredDashboard, 'id' | 'name'>,
  activity: Activity['activity'],
  changes: readonly Change[] | null,
): Promise<void> {
  await recordActivity(tx, {
    projectId: caller.projectId,
    userId: caller.userId,
    scope: 'Dashboard',
    itemId: String(dashboard.id),
    activity,
    detail: {
      name: dashboard.name,
      changes: changes?.map((change) => ({ type: 'Dashboard', action: 'changed', ...change })) ?? null,
    },
  });
}

/** Fields by the names that clients know. */
const FIELDS = {
  name: 'name',
  description: 'description',
  pinned: 'pinned',
  deleted: 'deleted',
  filters: 'filters',
  tags: 'tags',
  restriction: 'restriction_level',
} as const;

type Named = Pick<StoredDashboard, keyof typeof FIELDS>;

export function changesBetween(before: Named, after: Named): Change[] {
  return listKeys(FIELDS)
    .filter((key) => !sameJson(before[key], after[key]))
    .map((key) => ({ field: FIELDS[key], before: before[key], after: after[key] }));
}

const listKeys = <T extends object>(object: T) => Object.keys(object) as (keyof T)[];
