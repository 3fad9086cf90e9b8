import { createHash, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import type { AccessTable, ApiEnv } from './access.ts';

/** `viewer` may look at migrations and queues, `operator` may also act on them. */
export type Role = 'viewer' | 'operator';

/** The credentials of the pages of operations and of the queue dashboard. */
export interface RoleCredentials {
  readonly user: string;
  /** Of viewers. */
  readonly password: string;
  /** Of operators. @default nobody is one */
  readonly adminPassword?: string | undefined;
}

/** The role that the header of a request gives; undefined for none. */
export function findRole(header: string | undefined, credentials: RoleCredentials): Role | undefined {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]+)\s*$/i.exec(header ?? '')?.[1];
  if (!encoded) return undefined;
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  const { user, password, adminPassword } = credentials;
  if (adminPassword !== undefined && isSame(given, `${user}:${adminPassword}`)) return 'operator';
  return isSame(given, `${user}:${password}`) ? 'viewer' : undefined;
}

/** The one of the queue dashboard, so that browsers ask once for both. */
const REALM = 'Basic realm="Backhaul queues", charset="UTF-8"';

/** A response that makes browsers ask for user and password. */
export function askForCredentials(c: Context, text: string): Response {
  return c.text(`${text}\n`, 401, { 'www-authenticate': REALM, 'cache-control': 'no-store' });
}

/**
 * The site whose page sent a request: browsers name it wherever a request may act. `unknown`: no browser sent it.
 * https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/Sec-Fetch-Site
 */
export function findSite(c: Context): 'own' | 'other' | 'unknown' {
  const site = c.req.header('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' ? 'own' : 'other';
  const origin = c.req.header('origin');
  if (origin === undefined) return 'unknown';
  return URL.canParse(origin) && new URL(origin).host === c.req.header('host') ? 'own' : 'other';
}

/** For routes of others, which know of no table: the role, or the response to whoever may not in. */
export function admit(c: Context, credentials: RoleCredentials): Role | Response {
  const role = findRole(c.req.header('authorization'), credentials);
  if (role === undefined) return askForCredentials(c, 'User and password are asked for.');
  // A page of another site could make a browser that knows the password send this.
  if (c.req.method !== 'GET' && findSite(c) === 'other') return c.text('Not from another site.\n', 403);
  return role;
}

/** Lets those in whose role the table asks for. A route that is missing there responds with 403 to everybody. */
export function createRoleCheck(credentials: RoleCredentials, table: AccessTable): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const route = matchedRoutes(c).find(({ method }) => method !== 'ALL');
    if (route === undefined) return c.notFound();
    const access = table.get(`${route.method} ${route.path}`);
    if (access === undefined || !('role' in access)) return c.text('Nobody may open this.\n', 403);
    const role = findRole(c.req.header('authorization'), credentials);
    if (role === undefined) return askForCredentials(c, 'User and password are asked for.');
    if (access.role === 'operator' && role !== 'operator') {
      return c.text('Viewers may look and not act: sign in with the password of operators.\n', 403);
    }
    c.set('role', role);
    return next();
  };
}

const digest = (text: string) => createHash('sha256').update(text).digest();
const isSame = (a: string, b: string) => timingSafeEqual(digest(a), digest(b));
