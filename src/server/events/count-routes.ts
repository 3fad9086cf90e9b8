import { z } from '@hono/zod-openapi';
import type { Db } from '../database/db.ts';
import { invalidInput } from '../http/errors.ts';
import { respondWithJson } from '../http/response.ts';
import { isStorable } from '../http/safe-json.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { type EventStamp, loadDayCounts, loadMonthCounts } from './counts-store.ts';

/** Counts by time, beyond the contract: `backhaul verify` compares them with its report. Scope `query:read`. */
const stampFields = {
  property: z.string().min(1).optional().openapi({
    description: 'Name of a property. With `value`: only events that carry it count.',
  }),
  value: z.string().optional(),
};

const months = z.object({
  results: z.array(z.object({ month: z.string(), count: z.int(), others: z.int() })),
});
const days = z.object({
  results: z.array(z.object({ day: z.string(), event: z.string(), count: z.int(), users: z.int() })),
  users: z.int(),
});

const names = z.array(z.string().refine(isStorable)).max(100);
const tag = 'Reading events (beyond the contract)';

export function addCountRoutes(api: Api, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/event_counts/months/',
      scopes: ['query:read'],
      summary: 'Count events by month (UTC)',
      tag,
      query: z.object(stampFields),
      responses: {
        200: { description: '`others`: events without the property and value.', schema: months },
      },
    },
    async ({ c, query }) =>
      respondWithJson(c, { results: await loadMonthCounts(db, c.get('project').id, readStamp(query)) }),
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/event_counts/days/',
      scopes: ['query:read'],
      summary: 'Count the events and persons of a month by day (UTC) and name',
      tag,
      query: z.object({
        ...stampFields,
        month: z.string().regex(/^(?!0000)\d{4}-(0[1-9]|1[0-2])$/, 'Must be a month, such as 2024-02.'),
        without: z.string().optional().openapi({
          description: 'JSON list of event names that `users`, the persons of the month, is counted without.',
        }),
      }),
      responses: { 200: { description: 'In order of day and name.', schema: days } },
    },
    async ({ c, query }) => {
      const filter = { month: query.month, stamp: readStamp(query), without: readNames(query.without) };
      const { days: results, users } = await loadDayCounts(db, c.get('project').id, filter);
      return respondWithJson(c, { results, users });
    },
  );
}

const readStamp = ({
  property,
  value,
}: {
  readonly property?: string | undefined;
  readonly value?: string | undefined;
}): EventStamp | undefined => (property === undefined ? undefined : { property, value: value ?? '' });

function readNames(text: string | undefined): string[] {
  if (text === undefined) return [];
  try {
    return names.parse(JSON.parse(text));
  } catch {
    throw invalidInput('Must be a JSON list of event names.', 'without');
  }
}
