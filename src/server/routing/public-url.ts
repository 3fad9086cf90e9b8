import type { Context, MiddlewareHandler } from 'hono';
import type { ApiEnv } from '../auth/access.ts';

/** Tells requests where clients reach the API, without a trailing slash; undefined: wherever they came in. */
export const publicAddress =
  (url: string | undefined): MiddlewareHandler<ApiEnv> =>
  (c, next) => {
    c.set('publicUrl', url);
    return next();
  };

/** The address that was asked, as the client knows it: behind a proxy, that is not where it came in. */
export function getPublicUrl(c: Context<ApiEnv>): string {
  const base = c.get('publicUrl');
  if (base === undefined) return c.req.url;
  const { pathname, search } = new URL(c.req.url);
  return `${base}${pathname}${search}`;
}
