import type { Db } from '../database/db.ts';
import { FORMS, respondWithCsv, wantsCsv } from '../http/content-negotiation.ts';
import { isJsonObject, type JsonObject, toText } from '../http/json.ts';
import { linkTo, parsePage } from '../http/paging.ts';
import { toByteStream } from '../http/response.ts';
import type { FoundPeople, PeopleFinder, PeoplePage } from '../insights/find-people.ts';
import type { PeopleKind } from '../insights/people-kind.ts';
import { PEOPLE_KINDS } from '../insights/people-kinds.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute, type Call } from '../routing/route.ts';
import { toRefusal } from './refuse-invalid.ts';
import { renderPeople } from './render-actor.ts';
import { type ActorBody, peopleBody, peopleQuery, peopleSchema, retainedSchema } from './schema.ts';
import { streamPeople } from './stream-people.ts';
import { addTimelineRoutes } from './timeline-routes.ts';

interface PeopleDeps {
  readonly db: Db;
  readonly findPeople: PeopleFinder;
  readonly now: () => number;
}

/** Actors that one request holds. */
const MAX_LIMIT = 1_000_000;
/** Persons that it holds with their properties. */
const CHUNK = 200;
/** Columns that every table of persons has. */
const CSV_COLUMNS = ['created_at', 'id', 'name', 'uuid'];

/** The persons behind the numbers of insights. Before the routes of persons, whose `:id` takes any name. */
export function addPeopleRoutes(api: Api, deps: PeopleDeps): void {
  for (const kind of PEOPLE_KINDS) {
    for (const method of kind.methods) addPeopleRoute(api, deps, kind, method);
  }
  addTimelineRoutes(api, deps);
}

function addPeopleRoute(api: Api, deps: PeopleDeps, kind: PeopleKind, method: 'get' | 'post'): void {
  const schema = kind.shows === 'appearances' ? retainedSchema : peopleSchema;
  addRoute(
    api,
    {
      method,
      path: `/api/projects/:project_id/persons/${kind.path}/`,
      scopes: ['person:read'],
      summary: kind.summary,
      description:
        'Takes the filters of the insight, and what names one of its numbers. A table (`format=csv`) without ' +
        '`limit` holds everybody.',
      tag: 'Persons',
      query: peopleQuery(kind),
      ...(method === 'post' ? { body: peopleBody(kind) } : {}),
      responses: { 200: { description: 'One page of them.', schema, contentTypes: FORMS } },
    },
    (call) => respond(call, deps, kind),
  );
}

type PeopleCall = Call<Readonly<Record<string, unknown>> & { format?: 'csv' | 'json' | undefined }, unknown>;

async function respond(call: PeopleCall, deps: PeopleDeps, kind: PeopleKind): Promise<Response> {
  const { c, query, body } = call;
  const { db, now } = deps;
  const projectId = c.get('project').id;
  const filters = { ...query, ...(isJsonObject(body) ? body : {}) };
  const isTable = wantsCsv({ c, query });
  const page = readPage(filters, kind, isTable);
  const askedAt = now();
  const found = await find(deps, kind, projectId, filters, page);
  const read = () => readRows(db, projectId, found, kind);
  if (isTable) return respondWithCsv({ c, query }, read, CSV_COLUMNS);

  const rows = read();
  // A failure up to here still becomes an error response.
  const { value: first } = await rows.next();
  const frame = {
    ...describePage(getPublicUrl(c), kind, page, found),
    missing_persons: 0,
    is_cached: false,
    last_refresh: new Date(askedAt).toISOString(),
    total_count: found.total,
  };
  const text = streamPeople(frame, kind.shows, found.people.length, first ?? [], rows);
  return c.body(toByteStream(text), 200, { 'content-type': 'application/json' });
}

async function find(
  { db, findPeople }: PeopleDeps,
  kind: PeopleKind,
  projectId: number,
  filters: JsonObject,
  page: PeoplePage,
): Promise<FoundPeople> {
  try {
    return await findPeople(db, projectId, kind.parse(filters), page);
  } catch (error) {
    throw toRefusal(error);
  }
}

const DEFAULT_NAMES = { limit: 'limit', offset: 'offset' } as const;

function readPage(
  filters: JsonObject,
  { pageNames = DEFAULT_NAMES }: PeopleKind,
  isTable: boolean,
): PeoplePage {
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
  { pageNames = DEFAULT_NAMES }: PeopleKind,
  { limit, offset }: PeoplePage,
  { total }: FoundPeople,
): { readonly next: string | null; readonly initial: string } {
  const after = offset + limit;
  const next = { [pageNames.limit]: limit, [pageNames.offset]: after };
  return { next: after < total ? linkTo(url, next) : null, initial: linkTo(url, {}) };
}

/** A few at a time; of a list with appearances with these. */
async function* readRows(
  db: Db,
  projectId: number,
  { people }: FoundPeople,
  { shows }: PeopleKind,
): AsyncGenerator<readonly unknown[], void, undefined> {
  for (let at = 0; at < people.length; at += CHUNK) {
    const found = people.slice(at, at + CHUNK);
    const actors = await renderPeople(db, projectId, found);
    yield shows === 'people' ? actors : actors.map(toRetained);

    function toRetained(person: ActorBody, index: number) {
      return { person, appearances: found[index]?.appearances ?? [] };
    }
  }
}
