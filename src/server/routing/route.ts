import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { AccessTable, ApiEnv, KeyAccess } from '../auth/access.ts';
import type { Role } from '../auth/roles.ts';
import { errorSchema, invalidInput } from '../http/errors.ts';
import { isJsonObject } from '../http/json.ts';
import { readRequestBody } from '../http/request-body.ts';
import { isStorable, UNSTORABLE_TEXT } from '../http/safe-json.ts';
import { validated } from '../http/validation-error.ts';

/** The application while its routes are declared, with who may call each of them. */
export interface Api {
  readonly app: OpenAPIHono<ApiEnv>;
  readonly access: AccessTable;
}

export const createApi = (): Api => ({ app: new OpenAPIHono<ApiEnv>(), access: new Map() });

interface RouteShape<Q extends z.ZodObject, B extends z.ZodType> {
  readonly method: 'get' | 'post' | 'patch' | 'put' | 'delete';
  /** With Hono's parameters: `/api/projects/:project_id/persons/:id/`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Types of path parameters other than text, for the document. */
  readonly params?: Readonly<Record<string, 'integer' | 'uuid'>>;
  /**
   * Runs before the input is validated, so that a missing object (404) or one that is closed to the caller
   * (403) is reported before invalid input (400). Clients of the service rely on this order.
   */
  readonly preHandler?: (c: Context<ApiEnv>) => Promise<unknown>;
  /** Fields that it does not name are ignored. */
  readonly query?: Q;
  /**
   * JSON, or a form whose fields are text.
   * @default the body is not read
   */
  readonly body?: B;
  /** Responses other than errors, by status. Without a schema: no body. */
  readonly responses: Readonly<Record<number, ResponseSpec>>;
}

/**
 * One endpoint below `/api/`: who may call it, what it takes and what it responds with. The document is made
 * of the schemas that validate.
 */
export type RouteSpec<Q extends z.ZodObject, B extends z.ZodType> = RouteShape<Q, B> & KeyAccess;

export interface ResponseSpec {
  readonly description: string;
  readonly schema?: z.ZodType;
  /**
   * The schema is that of JSON; any other type is text.
   * @default ['application/json']
   */
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
  { app, access }: Api,
  spec: RouteSpec<Q, B>,
  handle: (call: Call<z.infer<Q>, z.infer<B>>) => Response | Promise<Response>,
): void {
  const method = spec.method.toUpperCase();
  access.set(`${method} ${spec.path}`, getKeyAccess(spec));
  document(app, spec);
  app.on(method, spec.path, async (c) => {
    await spec.preHandler?.(c);
    const query = validated(spec.query ?? NOTHING, withoutKey(readQuery(c))) as z.infer<Q>;
    const body = (
      spec.body === undefined ? undefined : validated(spec.body, withoutKey(await readRequestBody(c)))
    ) as z.infer<B>;
    return handle({ c, query, body });
  });
}

const getKeyAccess = (spec: KeyAccess): KeyAccess =>
  spec.scopes === undefined ? { anyKey: spec.anyKey } : { scopes: spec.scopes };

/** An endpoint outside `/api/`, which takes no personal key. */
export interface PublicRoute {
  readonly methods: readonly ('GET' | 'POST' | 'OPTIONS')[];
  readonly path: string;
  /** What it takes instead of a personal key, or why it takes nothing. */
  readonly public: string;
}

export function addPublicRoute(
  { app, access }: Api,
  { methods, path, public: why }: PublicRoute,
  handle: (c: Context<ApiEnv>) => Response | Promise<Response>,
): void {
  for (const method of methods) access.set(`${method} ${path}`, { public: why });
  app.on([...methods], path, handle);
}

/** A page of operations, or numbers for machines: user and password of that role open it. */
export function addRoleRoute(
  { app, access }: Api,
  { method, path, role }: { readonly method: 'GET' | 'POST'; readonly path: string; readonly role: Role },
  handle: (c: Context<ApiEnv>) => Response | Promise<Response>,
): void {
  access.set(`${method} ${path}`, { role });
  app.on(method, path, handle);
}

/** An endpoint below `/api/` for clients in browsers, which send the project key as `token` of the query. */
export function addProjectKeyRoute(
  { app, access }: Api,
  path: string,
  why: string,
  handle: (c: Context<ApiEnv>) => Response | Promise<Response>,
): void {
  for (const method of ['GET', 'OPTIONS']) access.set(`${method} ${path}`, { projectKey: why });
  app.on('GET', path, handle);
  app.on('OPTIONS', path, (c) => c.json({ status: 1 }));
}

function readQuery(c: Context): Record<string, string> {
  const query = c.req.query();
  for (const [name, value] of Object.entries(query)) {
    if (!isStorable(value)) throw invalidInput(`This parameter is ${UNSTORABLE_TEXT}.`, name);
  }
  return query;
}

/** Removes a key that came with the input (access.ts): a handler that takes any field would store it. */
function withoutKey(input: unknown): unknown {
  if (!isJsonObject(input) || !Object.hasOwn(input, 'personal_api_key')) return input;
  const { personal_api_key: _key, ...rest } = input;
  return rest;
}

/** Error statuses of every call below `/api/`; 413 and 415 only where a body is read. */
const ERRORS: Readonly<Record<number, string>> = {
  400: 'The input is not valid; `attr` names the field.',
  401: 'No personal API key, or one that is not valid.',
  403: 'The key lacks a scope, or has no access to the project.',
  404: 'There is no such project or object.',
  413: 'The body is too large.',
  415: 'The body is of a type that cannot be read.',
  429: 'Too many requests; `Retry-After` says when to come again.',
};

function document(app: OpenAPIHono<ApiEnv>, spec: RouteSpec<z.ZodObject, z.ZodType>): void {
  const errors = Object.entries(ERRORS).filter(
    ([status]) => spec.body !== undefined || !['413', '415'].includes(status),
  );
  app.openAPIRegistry.registerPath({
    method: spec.method,
    path: spec.path.replace(/:([A-Za-z_]+)/g, '{$1}'),
    operationId: toOperationId(spec),
    summary: spec.summary,
    ...(spec.description === undefined ? {} : { description: spec.description }),
    tags: [spec.tag],
    security: [{ personalApiKey: [...(spec.scopes ?? [])] }],
    request: {
      params: describeParams(spec),
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
        Object.entries(spec.responses).map(([status, response]) => [status, describeResponse(response)]),
      ),
    },
  });
}

/** `GET /api/projects/:project_id/persons/:id/` → `get_projects_persons_id`, the name in generated clients. */
const toOperationId = ({ method, path }: RouteSpec<z.ZodObject, z.ZodType>): string =>
  [method, ...path.replace(/^\/api\/|:project_id\/(?=.)|\/$/g, '').split(/[^A-Za-z_]+/)]
    .filter(Boolean)
    .join('_');

function describeParams({ path, params }: RouteSpec<z.ZodObject, z.ZodType>): z.ZodObject {
  const names = [...path.matchAll(/:([A-Za-z_]+)/g)].map(([, name]) => name ?? '');
  const kinds = { integer: z.int(), uuid: z.uuid(), text: z.string() };
  return z.object(Object.fromEntries(names.map((name) => [name, kinds[params?.[name] ?? 'text']])));
}

function describeResponse({ description, schema, contentTypes = ['application/json'] }: ResponseSpec) {
  if (schema === undefined) return { description };
  return {
    description,
    content: Object.fromEntries(
      contentTypes.map((type) => [type, { schema: type === 'application/json' ? schema : z.string() }]),
    ),
  };
}
