import { expect } from 'vitest';
import type { Scope } from '../../../src/server/auth/scopes.ts';
import { createUser, type MEMBER_LEVEL, type User } from '../../../src/server/auth/users.ts';
import type { Db } from '../../../src/server/database/db.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { createPersonalKey } from '../../support/keys.ts';

export interface Tile {
  readonly id: number;
  readonly layouts: Record<string, unknown>;
  readonly color: string | null;
  readonly insight: { readonly id: number; readonly [key: string]: unknown } | null;
  readonly text: { readonly id: number; readonly body: string; readonly [key: string]: unknown } | null;
  readonly last_refresh: string | null;
  readonly is_cached: boolean;
  readonly error?: { readonly type: string; readonly message: string };
}

export interface Dashboard {
  readonly id: number;
  readonly name: string | null;
  readonly tiles: Tile[];
  readonly [key: string]: unknown;
}

/** Somebody with a key: `ask` calls below `dashboards/` of the project. */
export interface Person {
  readonly user: User;
  ask(method: string, path: string, body?: unknown): Promise<Response>;
}

export interface BoardApi {
  readonly api: TestApi;
  /** The owner's call below `dashboards/`; a body that is text goes as a form. */
  ask(method: string, path: string, body?: unknown): Promise<Response>;
  /** The same, and insists on success. */
  get<T = Dashboard>(path: string): Promise<T>;
  make(body?: unknown): Promise<Dashboard>;
  change(id: number, body: unknown): Promise<Dashboard>;
  /** A new user of the organisation with a key of their own. */
  invite(level: keyof typeof MEMBER_LEVEL, scopes?: readonly Scope[]): Promise<Person>;
}

let users = 0;

export async function createBoardApi(db: Db, now?: () => number): Promise<BoardApi> {
  const api = await createTestApi(db, now);
  const caller = (key: string) => async (method: string, path: string, body?: unknown) =>
    api.app.request(`/api/projects/${api.project.id}/dashboards/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json',
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const ask = caller(api.personalKey);
  const succeed = async <T>(status: number, response: Promise<Response>) => {
    const answer = await response;
    const text = await answer.text();
    expect(answer.status, text).toBe(status);
    return JSON.parse(text) as T;
  };
  return {
    api,
    ask,
    get: (path) => succeed(200, ask('GET', path)),
    make: (body = {}) => succeed<Dashboard>(201, ask('POST', '', body)),
    change: (id, body) => succeed<Dashboard>(200, ask('PATCH', `${id}/`, body)),
    async invite(level, scopes = ['*']) {
      users += 1;
      const user = await createUser(db, {
        email: `user${users}@example.com`,
        firstName: `User ${users}`,
        level,
      });
      return { user, ask: caller(await createPersonalKey(db, { label: 't', scopes, userId: user.id })) };
    },
  };
}

/** Insists on an error in the envelope. */
export async function expectError(
  response: Response | Promise<Response>,
  status: number,
  envelope: Record<string, unknown>,
): Promise<void> {
  const answer = await response;
  const body: unknown = await answer.json();
  expect(body).toMatchObject(envelope);
  expect(answer.status).toBe(status);
}

/** An insight tile's body, which asks for page views. */
export const pageviews = (name: string) => ({
  insight: {
    name,
    filters: {
      insight: 'TRENDS',
      events: [{ id: '$pageview', type: 'events', order: 0, name: '$pageview' }],
    },
  },
});
