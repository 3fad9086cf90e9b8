import { z } from '@hono/zod-openapi';
import { parseJson } from '../../lib/json/parse-json.ts';
import type { Db } from '../database/db.ts';
import { invalidInput } from '../http/errors.ts';
import { respondWithJson, toByteStream } from '../http/response.ts';
import { isStorable } from '../http/safe-json.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { type EventId, loadEventCounts, loadEventIds, loadEvents, type StoredEvent } from './store.ts';

/**
 * Reading events back, beyond the contract: so that an import can be checked against what arrived.
 * Scope `query:read`.
 */
const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 10_000;
/** Rows held in memory while all ids are streamed. */
const IDS_PAGE = 5000;

const eventSchema = z
  .object({
    uuid: z.uuid(),
    event: z.string(),
    distinct_id: z.string(),
    timestamp: z.string(),
    properties: z.unknown(),
  })
  .openapi('Event');

const eventsQuery = z.object({
  distinct_id: z.string().optional(),
  person_id: z.uuid().optional().openapi({ description: 'uuid of a person: the events of all their ids.' }),
  event: z.string().optional().openapi({ description: 'Exact name.' }),
  limit: z.coerce.number('A valid integer is required.').int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT),
  after: z.string().optional().openapi({ description: '`next` of the page before.' }),
});

const tag = 'Reading events (beyond the contract)';

export function addEventRoutes(api: Api, db: Db): void {
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/event_counts/',
      scopes: ['query:read'],
      summary: 'Count events by name',
      tag,
      responses: {
        200: {
          description: 'Events by name, most frequent first, and their sum.',
          schema: z.object({
            results: z.array(z.object({ event: z.string(), count: z.int() })),
            total: z.int(),
          }),
        },
      },
    },
    async ({ c }) => {
      const results = await loadEventCounts(db, c.get('project').id);
      return respondWithJson(c, { results, total: results.reduce((sum, { count }) => sum + count, 0) });
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/events/',
      scopes: ['query:read'],
      summary: 'List events, newest first',
      tag,
      query: eventsQuery,
      responses: {
        200: {
          description: '`next` goes into `after` for the next page; null at the end.',
          schema: z.object({ results: z.array(eventSchema), next: z.string().nullable() }),
        },
      },
    },
    async ({ c, query }) => {
      const { distinct_id: distinctId, person_id: personUuid, event, limit, after } = query;
      const filter = { distinctId, personUuid, event, limit, after: parsePosition(after) };
      const events = await loadEvents(db, c.get('project').id, filter);
      const last = events.length === limit ? events.at(-1) : undefined;
      return respondWithJson(c, {
        results: events.map(renderEvent),
        next: last ? renderPosition(last) : null,
      });
    },
  );
  addRoute(
    api,
    {
      method: 'get',
      path: '/api/projects/:project_id/events/ids.ndjson',
      scopes: ['query:read'],
      summary: 'Stream the identity of every event in order of uuid: two runs compare with `diff`',
      tag,
      responses: {
        200: {
          description: 'One JSON object a line: uuid, event, distinct_id, timestamp.',
          schema: z.string(),
          contentTypes: ['application/x-ndjson'],
        },
      },
    },
    ({ c }) => {
      const lines = streamIds(db, c.get('project').id);
      return c.body(toByteStream(lines), 200, { 'content-type': 'application/x-ndjson' });
    },
  );
}

const renderId = ({ uuid, event, distinctId, timestamp }: EventId) => ({
  uuid,
  event,
  distinct_id: distinctId,
  timestamp,
});

const renderEvent = (event: StoredEvent) => ({
  ...renderId(event),
  properties: parseJson(event.properties),
});

const storable = z.string().refine(isStorable);
/** PostgreSQL knows no year 0. */
const position = z.tuple([
  z.iso.datetime().refine((text) => !text.startsWith('0000')),
  z.uuid(),
  storable,
  storable,
]);

const renderPosition = ({ timestamp, uuid, event, distinctId }: EventId): string =>
  Buffer.from(JSON.stringify([timestamp, uuid, event, distinctId])).toString('base64url');

function parsePosition(text: string | undefined): EventId | undefined {
  if (text === undefined) return undefined;
  try {
    const decoded = JSON.parse(Buffer.from(text, 'base64url').toString());
    const [timestamp, uuid, event, distinctId] = position.parse(decoded);
    return { timestamp, uuid, event, distinctId };
  } catch {
    throw invalidInput('Must be the `next` of a page before.', 'after');
  }
}

async function* streamIds(db: Db, projectId: number): AsyncGenerator<string, void, undefined> {
  let after: EventId | undefined;
  for (;;) {
    const events = await loadEventIds(db, projectId, after, IDS_PAGE);
    if (events.length > 0) yield events.map((event) => `${JSON.stringify(renderId(event))}\n`).join('');
    if (events.length < IDS_PAGE) return;
    after = events.at(-1);
  }
}
