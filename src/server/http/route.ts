import { type OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ACCESS, type ApiEnv } from '../auth/access.ts';
import { errorSchema, invalidInput } from './errors.ts';
import { isJsonObject } from './json.ts';
import { readRequestBody } from './request-body.ts';
import { isStorable, UNSTORABLE_TEXT } from './safe-json.ts';
import { validated } from './validation-error.ts';

/** One endpoint below `/api/`: what it takes and answers. The document is made of the schemas that validate. */
export interface RouteSpec<Q extends z.ZodObject, B extends z.ZodType> {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  /** With Hono's parameters: `/api/projects/:project_id/persons/:id/`. Its scopes stand in access.ts. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Types of path parameters other than text, for the document. */
  readonly params?: Readonly<Record<string, 'integer' | 'uuid'>>;
  /**
   * Runs before the input is looked at: an object that is not there (404) or not open to the caller (403) is
   * told before what is wrong with the input (400), as clients of the service know it.
   */
  readonly first?: (c: Context<ApiEnv>) => Promise<unknown>;
  /** What it does not name is ignored. */
  readonly query?: Q;
  /** JSON, or a form whose fields are text. Left out: a body is not looked at. */
  readonly body?: B;
  /** Answers other than errors, by status. Without a schema: no body. */
  readonly answers: Readonly<Record<number, Answer>>;
}

export interface Answer {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Default application/json. The schema is that of JSON; any other type is text. */
  readonly contentTypes?: readonly string[];
}

/** What a handler gets: the context with key, user and project on it, and the validated input. */
export interface Call<Q, B> {
  readonly c: Context<ApiEnv>;
  readonly query: Q;
  readonly body: B;
}

const NOTHING = z.object({});

export function addRoute<Q extends z.ZodObject = typeof NOTHING, B extends z.ZodType = z.ZodUndefined>(
  api: OpenAPIHono<ApiEnv>,
  spec: RouteSpec<Q, B>,
  handle: (call: Call<z.infer<Q>, z.infer<B>>) => Response | Promise<Response>,
): void {
  document(api, spec);
  api.on(spec.method.toUpperCase(), spec.path, async (c) => {
    await spec.first?.(c);
    const query = validated(spec.query ?? NOTHING, withoutKey(readQuery(c))) as z.infer<Q>;
    const body = (
      spec.body === undefined ? undefined : validated(spec.body, withoutKey(await readRequestBody(c)))
    ) as z.infer<B>;
    return handle({ c, query, body });
  });
}

function readQuery(c: Context): Record<string, string> {
  const query = c.req.query();
  for (const [name, value] of Object.entries(query)) {
    if (!isStorable(value)) throw invalidInput(`This parameter is ${UNSTORABLE_TEXT}.`, name);
  }
  return query;
}

/** A key that came with the input (access.ts) goes no further: a room that takes any field would store it. */
function withoutKey(input: unknown): unknown {
  if (!isJsonObject(input) || !Object.hasOwn(input, 'personal_api_key')) return input;
  const { personal_api_key: _key, ...rest } = input;
  return rest;
}

/** Statuses that every call below `/api/` may meet before its handler, and those of its kind of input. */
const ERRORS: Readonly<Record<number, string>> = {
  400: 'The input is not valid; `attr` names the field.',
  401: 'No personal API key, or one that is not valid.',
  403: 'The key lacks a scope, or has no access to the project.',
  404: 'There is no such project or object.',
  413: 'The body is too large.',
  415: 'The body is of a type that cannot be read.',
  429: 'Too many requests; `Retry-After` says when to come again.',
};

function document(api: OpenAPIHono<ApiEnv>, spec: RouteSpec<z.ZodObject, z.ZodType>): void {
  const scopes = ACCESS[`${spec.method.toUpperCase()} ${spec.path}`] ?? [];
  const errors = Object.entries(ERRORS).filter(
    ([status]) => spec.body !== undefined || !['413', '415'].includes(status),
  );
  api.openAPIRegistry.registerPath({
    method: spec.method,
    path: spec.path.replace(/:([A-Za-z_]+)/g, '{$1}'),
    operationId: operationIdOf(spec),
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    tags: [spec.tag],
    security: [{ personalApiKey: [...scopes] }],
    request: {
      params: paramsOf(spec),
      ...(spec.query === undefined ? {} : { query: spec.query }),
      ...(spec.body === undefined
        ? {}
        : {
            body: {
              required: !spec.body.safeParse({}).success,
              content: { 'application/json': { schema: spec.body } },
            },
          }),
    },
    responses: {
      ...Object.fromEntries(
        errors.map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: errorSchema } } },
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(spec.answers).map(([status, answer]) => [status, answerOf(answer)]),
      ),
    },
  });
}

/** `GET /api/projects/:project_id/persons/:id/` → `get_projects_persons_id`: what generated clients call it. */
const operationIdOf = ({ method, path }: RouteSpec<z.ZodObject, z.ZodType>): string =>
  [method, ...path.replace(/^\/api\/|:project_id\/(?=.)|\/$/g, '').split(/[^A-Za-z_]+/)]
    .filter(Boolean)
    .join('_');

function paramsOf({ path, params }: RouteSpec<z.ZodObject, z.ZodType>): z.ZodObject {
  const names = [...path.matchAll(/:([A-Za-z_]+)/g)].map(([, name]) => name ?? '');
  const kinds = { integer: z.int(), uuid: z.uuid(), text: z.string() };
  return z.object(Object.fromEntries(names.map((name) => [name, kinds[params?.[name] ?? 'text']])));
}

function answerOf({ description, schema, contentTypes = ['application/json'] }: Answer) {
  if (schema === undefined) return { description };
  const schemaOf = (type: string) => (type === 'application/json' ? schema : z.string());
  return {
    description,
    content: Object.fromEntries(contentTypes.map((type) => [type, { schema: schemaOf(type) }])),
  };
}
