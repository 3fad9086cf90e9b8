import { z } from '@hono/zod-openapi';
import { parseJson } from '../../lib/json/parse-json.ts';
import type { LoggedActivity } from '../activity/activity-log.ts';
import type { User } from '../auth/users.ts';
import { isJsonObject } from '../http/json.ts';

export const activitySchema = z
  .object({
    user: z.object({ first_name: z.string(), email: z.string().nullable(), is_system: z.boolean() }),
    activity: z.string(),
    scope: z.string(),
    item_id: z.string(),
    detail: z.record(z.string(), z.unknown()),
    created_at: z.string(),
  })
  .openapi('Activity');

export type ActivityBody = z.infer<typeof activitySchema>;

const SYSTEM = { first_name: 'System', email: null, is_system: true };

/** `users` has every user that an activity names. */
export function renderActivity(activity: LoggedActivity, users: ReadonlyMap<number, User>): ActivityBody {
  const user = activity.userId === null ? undefined : users.get(activity.userId);
  const detail = parseJson(activity.detail);
  return {
    user: user ? { first_name: user.first_name, email: user.email, is_system: false } : SYSTEM,
    activity: activity.activity,
    scope: activity.scope,
    item_id: activity.itemId,
    detail: isJsonObject(detail) ? detail : {},
    created_at: activity.createdAt,
  };
}
