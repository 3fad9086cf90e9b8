import type { MiddlewareHandler } from 'hono';

/**
 * What every answer carries: it is of the type that it says, and no key of a query string goes on to another
 * site as the referrer. Below `/api/` are people's data and keys, which no cache keeps.
 */
export const safeHeaders: MiddlewareHandler = (c, next) => {
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Referrer-Policy', 'no-referrer');
  if (c.req.path.startsWith('/api/')) c.header('Cache-Control', 'no-store');
  return next();
};
