import type { z } from '@hono/zod-openapi';
import type { Db } from '../database/db.ts';
import { sql } from '../database/sql.ts';
import { FORMS, respondWithCsv, wantsCsv } from '../http/content-negotiation.ts';
import { invalidInput } from '../http/errors.ts';
import { paged, type pageQuery, parsePage, renderPage } from '../http/paging.ts';
import { respondWithJson, toByteStream } from '../http/response.ts';
import { compileFilter } from '../query/compile-filter.ts';
import { parseIsoDate } from '../query/date-text.ts';
import { loadDefinitions } from '../query/definitions/action-store.ts';
import type { FilterGroup } from '../query/filter.ts';
import { parseFilter } from '../query/parse-filter.ts';
import { getPublicUrl } from '../routing/public-url.ts';
import { type Api, addRoute, type Call } from '../routing/route.ts';
import { renderPerson } from './render-person.ts';
import { type PersonBody, personSchema, personsQuery } from './schema.ts';
import { findPersons, loadPersons, type PersonFilter } from './store.ts';
import { streamPage } from './stream-page.ts';

interface ListDeps {
  readonly db: Db;
  readonly now: () => number;
}

/** Ids that one statement reads. A larger page ends there, and its `next` leads on; a table continues by itself. */
const MAX_LIMIT = 1_000_000;
/** Persons that one request holds in memory. */
const CHUNK = 200;
/** Columns that every table of persons has. */
const CSV_COLUMNS = ['created_at', 'id', 'name', 'uuid'];

export function addListRoutes(api: Api, { db, now }: ListDeps): void {
  for (const path of ['persons/', 'persons.csv']) {
    addRoute(
      api,
      {
        method: 'get',
        path: `/api/projects/:project_id/${path}`,
        scopes: ['person:read'],
        summary: path === 'persons/' ? 'List persons, newest first' : 'List persons as CSV',
        description: 'A table (`format=csv`) without `limit` continues to the last person.',
        tag: 'Persons',
        query: personsQuery,
        responses: {
          200: { description: 'One page of persons.', schema: paged(personSchema), contentTypes: FORMS },
        },
      },
      async (call) => {
        const { c, query } = call;
        const projectId = c.get('project').id;
        const filter = await readFilter(call, db, now());
        if (wantsCsv(call)) {
          const ids = await findAllIds(db, projectId, filter, query);
          return respondWithCsv(call, () => readPersons(db, projectId, ids), CSV_COLUMNS);
        }
        const page = parsePage(query, MAX_LIMIT);
        const { count, ids } = await findPersons(db, projectId, filter, page);
        const chunks = readPersons(db, projectId, ids);
        // A failure up to here still becomes an error response.
        const { value: first } = await chunks.next();
        const answer = renderPage<PersonBody>(getPublicUrl(c), page, count, first ?? []);
        if (ids.length <= CHUNK) return respondWithJson(c, answer);
        const texts = streamPage(answer, chunks);
        return c.body(toByteStream(texts), 200, { 'content-type': 'application/json' });
      },
    );
  }
}

/** Of a table: all, or those of a page. */
async function findAllIds(
  db: Db,
  projectId: number,
  filter: PersonFilter,
  query: z.infer<typeof pageQuery>,
): Promise<number[]> {
  const { limit: given, offset } = parsePage(query, Number.MAX_SAFE_INTEGER);
  const limit = query.limit ? given : Number.MAX_SAFE_INTEGER;
  const all: number[] = [];
  for (;;) {
    const page = { limit: Math.min(limit - all.length, MAX_LIMIT), offset: offset + all.length };
    const { ids } = await findPersons(db, projectId, filter, page);
    for (const id of ids) all.push(id);
    if (ids.length < page.limit || all.length >= limit) return all;
  }
}

async function readFilter(
  { c, query }: Call<z.infer<typeof personsQuery>, unknown>,
  db: Db,
  now: number,
): Promise<PersonFilter> {
  const projectId = c.get('project').id;
  const given = c.req.queries('properties') ?? [];
  const parsed = given.map((text) => parseFilter(text, { defaultType: 'person' }));
  const cohort =
    query.cohort === undefined ? [] : [{ kind: 'cohort', cohortId: query.cohort, negated: false } as const];
  const members = [...parsed.filter((group) => group.members.length > 0), ...cohort];
  const named = {
    distinctId: query.distinct_id,
    email: query.email,
    search: query.search,
    updatedAfter: readTime(query.updated_after),
  };
  if (members.length === 0) return named;
  const wanted: FilterGroup = { kind: 'group', operator: 'and', members };
  const condition = compileFilter(wanted, {
    projectId,
    now,
    person: { id: sql`p.id`, properties: sql`p.properties` },
    ...(await loadDefinitions(db, projectId, wanted)),
  });
  return { ...named, condition };
}

function readTime(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const read = parseIsoDate(text, 'utc');
  if (read === undefined) throw invalidInput('Must be a date and time in ISO 8601.', 'updated_after');
  return read.date.toISO();
}

/** In the order of `ids`, a few at a time, without persons deleted in the meantime. */
async function* readPersons(
  db: Db,
  projectId: number,
  ids: readonly number[],
): AsyncGenerator<PersonBody[], void, undefined> {
  for (let at = 0; at < ids.length; at += CHUNK) {
    const persons = await loadPersons(db, projectId, ids.slice(at, at + CHUNK));
    yield persons.map(renderPerson);
  }
}
