import { z } from '@hono/zod-openapi';
import { parseJson } from '../../lib/json/parse-json.ts';
import { type LoggedActivity, loadActivity } from '../activity/activity-log.ts';
import { loadUsers, type User } from '../auth/users.ts';
import type { Db } from '../database/db.ts';
import { FORMS, MAX_CSV_ROWS, respondNegotiated, wantsCsv } from '../http/content-negotiation.ts';
import { isJsonObject } from '../http/json.ts';
import { numberedPage, parseNumberedPage, renderNumberedPage } from '../http/paging.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { findPerson } from './find-person.ts';
import { activityQuery } from './schema.ts';

const activitySchema = z
  .object({
    user: z.object({ first_name: z.string(), email: z.string().nullable(), is_system: z.boolean() }),
    activity: z.string(),
    scope: z.string(),
    item_id: z.string(),
    detail: z.record(z.string(), z.unknown()),
    created_at: z.string(),
  })
  .openapi('Activity');

type ActivityBody = z.infer<typeof activitySchema>;

const SYSTEM = { first_name: 'System', email: null, is_system: true };

/** `users` has every user that an activity names. */
function renderActivity(activity: LoggedActivity, users: ReadonlyMap<number, User>): ActivityBody {
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

/** The log of all persons, and of one who is there. */
export function addActivityRoutes(api: Api, db: Db): void {
  for (const path of ['persons/activity/', 'persons/:id/activity/']) {
    const isOfOne = path.includes(':id');
    addRoute(
      api,
      {
        method: 'get',
        path: `/api/projects/:project_id/${path}`,
        scopes: ['activity_log:read'],
        ...(isOfOne ? { params: { id: 'integer' as const } } : {}),
        summary: isOfOne ? 'List the changes of a person' : 'List the changes of all persons',
        tag: 'Persons',
        query: activityQuery,
        responses: {
          200: { description: 'Newest first.', schema: numberedPage(activitySchema), contentTypes: FORMS },
        },
      },
      async (call) => {
        const { c, query } = call;
        const projectId = c.get('project').id;
        const itemId = isOfOne ? String((await findPerson(db, c)).id) : undefined;
        const asked = parseNumberedPage(query);
        const page = wantsCsv(call) ? { limit: MAX_CSV_ROWS, offset: 0 } : asked;
        const log = await loadActivity(db, { projectId, scope: 'Person', itemId }, page);
        const users = await loadUsers(
          db,
          log.activities.flatMap(({ userId }) => userId ?? []),
        );
        const results = log.activities.map((activity) => renderActivity(activity, users));
        return respondNegotiated(call, renderNumberedPage(getPublicUrl(c), page, log.count, results));
      },
    );
  }
}
