import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { ApiEnv } from '../auth/access.ts';
import type { Db } from '../database/db.ts';
import { FORMS, formQuery, respondNegotiated } from '../http/content-negotiation.ts';
import { invalidInput } from '../http/errors.ts';
import { type JsonObject, parseJsonObject } from '../http/json.ts';
import { getCalendar } from '../insights/ask-database.ts';
import { listNames, loadEventTimes, requireAction } from '../insights/events-store.ts';
import {
  listPersonKeys,
  readTimelineQuery,
  TIMELINE_PARAMETERS,
  type TimelineQuery,
} from '../insights/timeline-query.ts';
import { findPerson } from '../persons/find-person.ts';
import { type DateRange, parseDateRange } from '../query/date-range.ts';
import { loadActions } from '../query/definitions/action-store.ts';
import { addIntervals } from '../query/interval.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { refuseInvalid } from './refuse-invalid.ts';
import { createTimeline, type TimelinePoint } from './timeline.ts';
import { readPersonEvents } from './timeline-store.ts';

const timelineSchema = z
  .object({
    points: z.array(
      z.object({
        timestamp: z.string(),
        properties: z.record(z.string(), z.unknown()),
        relevant_event_count: z.int(),
      }),
    ),
    crucial_property_keys: z.array(z.string()),
    effective_date_from: z.string(),
    effective_date_to: z.string(),
  })
  .openapi('PropertiesTimeline');

const timelineQuery = formQuery.extend(
  Object.fromEntries(
    Object.entries(TIMELINE_PARAMETERS).map(([name, description]) => [
      name,
      z.string().optional().openapi({ description }),
    ]),
  ),
);

export function addTimelineRoutes(
  api: Api,
  { db, now }: { readonly db: Db; readonly now: () => number },
): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/persons/:id/properties_timeline/',
      scopes: ['person:read'],
      params: { id: 'integer' },
      preHandler: (c) => findPerson(db, c),
      summary: 'Show how the properties of a person changed that an insight looks at',
      description:
        'A point for each time during which the properties that filters and breakdown name stayed the same, as ' +
        "the person's events set them.",
      tag: 'Persons',
      query: timelineQuery,
      responses: {
        200: { description: 'The points in order of time.', schema: timelineSchema, contentTypes: FORMS },
      },
    },
    async ({ c, query }) => {
      const { format, ...filters } = query as JsonObject & z.infer<typeof formQuery>;
      const asked = refuseInvalid(() => readTimelineQuery(filters));
      const range = await findRange(db, c, asked, now());
      const wanted = await findWanted(db, c, asked);
      const points = await readPoints(db, c, wanted, range);
      const document = {
        points,
        crucial_property_keys: wanted.keys,
        effective_date_from: range.from.toISO(),
        effective_date_to: range.until.minus(1).toISO(),
      };
      return respondNegotiated({ c, query: { format } }, document);
    },
  );
}

interface Wanted {
  /** Names of events; undefined: all. */
  readonly events: readonly string[] | undefined;
  /** Sorted. */
  readonly keys: readonly string[];
}

/** What the series and their actions are about. */
async function findWanted(db: Db, c: Context<ApiEnv>, { series, keys }: TimelineQuery): Promise<Wanted> {
  const saved = series.flatMap((one) => one.saved ?? []);
  const ids = saved.map(({ actionId }) => actionId);
  const scope = { actions: await loadActions(db, c.get('project').id, ids) };
  const steps = saved.flatMap((one) => requireAction(scope, one).steps);
  const names = series.map((one) => listNames(scope, one));
  return {
    events: names.length === 0 || names.includes(undefined) ? undefined : names.flatMap((own) => own ?? []),
    keys: [...new Set([...keys, ...steps.flatMap(({ filter }) => listPersonKeys(filter))])].sort(),
  };
}

async function findRange(
  db: Db,
  c: Context<ApiEnv>,
  { dates, interval }: TimelineQuery,
  now: number,
): Promise<DateRange> {
  const needsTimes = dates.from === 'all';
  const times = needsTimes ? await loadEventTimes(db, c.get('project').id, now) : undefined;
  const asked = { dateFrom: dates.from, dateTo: dates.to, explicitDate: dates.explicit, interval };
  const range = parseDateRange(asked, { now, earliest: times?.first, ...getCalendar(c.get('project')) });
  if (range.until > range.from.plus(1)) return range;
  return { ...range, until: addIntervals(range.from, 1, interval) };
}

/** Events of a person that are read. */
const MAX_EVENTS = 200_000;

async function readPoints(
  db: Db,
  c: Context<ApiEnv>,
  { keys, events }: Wanted,
  { from, until }: DateRange,
): Promise<readonly TimelinePoint[]> {
  const { distinctIds } = await findPerson(db, c);
  const timeline = createTimeline(keys);
  let read = 0;
  const end = until.toUTC().toISO();
  for await (const page of readPersonEvents(db, c.get('project').id, distinctIds, end)) {
    read += page.length;
    if (read > MAX_EVENTS) {
      throw invalidInput(
        `The person has more than ${MAX_EVENTS} events up to there: ask for an earlier time.`,
        'date_to',
      );
    }
    for (const { event, timestamp, properties } of page) {
      const isWanted = events === undefined || events.includes(event);
      const isRelevant = isWanted && Date.parse(timestamp) >= from.toMillis();
      timeline.add({ event, timestamp, properties: parseJsonObject(properties), isRelevant });
    }
  }
  return timeline.points;
}
