import type { Db } from '../database/db.ts';
import { FORMS, respondWithCsv, wantsCsv } from '../http/content-negotiation.ts';
import { isJsonObject, type JsonObject, toText } from '../http/json.ts';
import { linkTo, parsePage } from '../http/paging.ts';
import { toByteStream } from '../http/response.ts';
import type { CorrelationFinder } from '../insights/correlation/compute.ts';
import type { ActorList } from '../insights/lists/actor-list.ts';
import { ACTOR_LISTS } from '../insights/lists/actor-lists.ts';
import type { ActorFinder, ActorPage, FoundActors } from '../insights/lists/find-actors.ts';
import { describeSampling, readSamplingFactor } from '../insights/sampling.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute, type Call } from '../routing/route.ts';
import { addCorrelationRoutes } from './correlation-routes.ts';
import { toRefusal } from './refuse-invalid.ts';
import { renderActors } from './render-actor.ts';
import { type ActorBody, actorsBody, actorsQuery, actorsSchema, retainedSchema } from './schema.ts';
import { streamActors } from './stream-actors.ts';
import { addTimelineRoutes } from './timeline-routes.ts';

interface ActorDeps {
  readonly db: Db;
  readonly findActors: ActorFinder;
  readonly findCorrelations: CorrelationFinder;
  readonly now: () => number;
}

/** Actors that one request holds. */
const MAX_LIMIT = 1_000_000;
/** Persons that it holds with their properties. */
const CHUNK = 200;
/** Columns that every table of persons has. */
const CSV_COLUMNS = ['created_at', 'id', 'name', 'uuid'];

/** The persons behind the numbers of insights. Before the routes of persons, whose `:id` takes any name. */
export function addActorRoutes(api: Api, deps: ActorDeps): void {
  for (const list of ACTOR_LISTS) {
    for (const method of list.methods) addActorRoute(api, deps, list, method);
  }
  addCorrelationRoutes(api, deps);
  addTimelineRoutes(api, deps);
}

function addActorRoute(api: Api, deps: ActorDeps, list: ActorList, method: 'get' | 'post'): void {
  const schema = list.shows === 'appearances' ? retainedSchema : actorsSchema;
  addRoute(
    api,
    {
      method,
      path: `/api/projects/:project_id/persons/${list.path}/`,
      scopes: ['person:read'],
      summary: list.summary,
      description:
        'Takes the filters of the insight, and what names one of its numbers. A table (`format=csv`) without ' +
        '`limit` holds everybody.',
      tag: 'Persons',
      query: actorsQuery(list),
      ...(method === 'post' ? { body: actorsBody(list) } : {}),
      responses: { 200: { description: 'One page of them.', schema, contentTypes: FORMS } },
    },
    (call) => respond(call, deps, list),
  );
}

type ActorCall = Call<Readonly<Record<string, unknown>> & { format?: 'csv' | 'json' | undefined }, unknown>;

async function respond(call: ActorCall, deps: ActorDeps, list: ActorList): Promise<Response> {
  const { c, query, body } = call;
  const { db, now } = deps;
  const projectId = c.get('project').id;
  const filters = { ...query, ...(isJsonObject(body) ? body : {}) };
  const isTable = wantsCsv({ c, query });
  const page = readPage(filters, list, isTable);
  const askedAt = now();
  const found = await find(deps, list, projectId, filters, page);
  const read = () => readRows(db, projectId, found, list);
  if (isTable) return respondWithCsv({ c, query }, read, CSV_COLUMNS);

  const rows = read();
  // A failure up to here still becomes an error response.
  const { value: first } = await rows.next();
  const frame = {
    ...describePage(getPublicUrl(c), list, page, found),
    missing_persons: 0,
    ...describeSampling(readSamplingFactor(filters)),
    is_cached: false,
    last_refresh: new Date(askedAt).toISOString(),
    total_count: found.total,
  };
  const text = streamActors(frame, list.shows, found.actors.length, first ?? [], rows);
  return c.body(toByteStream(text), 200, { 'content-type': 'application/json' });
}

async function find(
  { db, findActors }: ActorDeps,
  list: ActorList,
  projectId: number,
  filters: JsonObject,
  page: ActorPage,
): Promise<FoundActors> {
  try {
    return await findActors(db, projectId, list.parse(filters), page);
  } catch (error) {
    throw toRefusal(error);
  }
}

const DEFAULT_NAMES = { limit: 'limit', offset: 'offset' } as const;

function readPage(
  filters: JsonObject,
  { pageNames = DEFAULT_NAMES }: ActorList,
  isTable: boolean,
): ActorPage {
  const read = (name: string) => {
    const value = filters[name];
    return value === undefined || value === null || value === '' ? undefined : toText(value);
  };
  const limit = read(pageNames.limit);
  const page = parsePage({ limit, offset: read(pageNames.offset) }, MAX_LIMIT);
  return { ...page, ...(isTable && limit === undefined ? { limit: MAX_LIMIT } : {}), search: read('search') };
}

function describePage(
  url: string,
  { pageNames = DEFAULT_NAMES }: ActorList,
  { limit, offset }: ActorPage,
  { total }: FoundActors,
): { readonly next: string | null; readonly initial: string } {
  const after = offset + limit;
  const next = { [pageNames.limit]: limit, [pageNames.offset]: after };
  return { next: after < total ? linkTo(url, next) : null, initial: linkTo(url, {}) };
}

/** A few at a time; of a list with appearances with these. */
async function* readRows(
  db: Db,
  projectId: number,
  { actors }: FoundActors,
  { shows }: ActorList,
): AsyncGenerator<readonly unknown[], void, undefined> {
  for (let at = 0; at < actors.length; at += CHUNK) {
    const found = actors.slice(at, at + CHUNK);
    const rendered = await renderActors(db, projectId, found);
    yield shows === 'actors' ? rendered : rendered.map(toRetained);

    function toRetained(person: ActorBody, index: number) {
      return { person, appearances: found[index]?.appearances ?? [] };
    }
  }
}
