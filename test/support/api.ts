import { gzipSync } from 'node:zlib';
import type { Hono } from 'hono';
import { buildApi } from '../../src/server/app.ts';
import { createProjectKey, ensureProject, type Project } from '../../src/server/auth/projects.ts';
import type { Db } from '../../src/server/database/db.ts';
import { silent } from './databases.ts';
import { createPersonalKey } from './keys.ts';

export interface TestApi {
  readonly app: Hono;
  readonly project: Project;
  /** A personal key with every scope. */
  readonly personalKey: string;
  /** Sends a body to a path, as JSON unless it is text or bytes already. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Sends events in one batch with the project's key, and insists that they are accepted. */
  send(...events: readonly Record<string, unknown>[]): Promise<void>;
  /** Calls below the project with the personal key; `path` such as `persons/1/`, `body` as JSON. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Asks below the project; `path` such as `persons/`. */
  get(path: string): Promise<Response>;
  read<T>(path: string): Promise<T>;
}

/** The real API over `db`, or one that is there already, with a project of its own. */
export async function createTestApi(
  db: Db,
  now?: () => number,
  app: Hono = buildApi({ db, log: silent, ...(now === undefined ? {} : { now }) }),
): Promise<TestApi> {
  const project = await ensureProject(db, { name: 'test', projectKey: createProjectKey() });
  const personalKey = await createPersonalKey(db, { label: 'test', scopes: ['*'] });

  async function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    return app.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body),
    });
  }

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return app.request(`/api/projects/${project.id}/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${personalKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }

  const get = (path: string) => call('GET', path);

  return {
    app,
    project,
    personalKey,
    post,
    async send(...events) {
      const response = await post('/batch/', {
        api_key: project.projectKey,
        historical_migration: true,
        batch: events,
      });
      if (response.status !== 200) throw new Error(`refused: ${await response.text()}`);
    },
    call,
    get,
    async read<T>(path: string) {
      const response = await get(path);
      if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
      return (await response.json()) as T;
    },
  };
}

export const gzipped = (value: unknown): Buffer => gzipSync(JSON.stringify(value));
