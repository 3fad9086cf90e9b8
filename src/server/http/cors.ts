import type { Context } from 'hono';

/** Browsers send from any site, and read the response: the key in the body identifies the project. */
export function allowOrigin(c: Context): void {
  const origin = c.req.header('origin');
  if (origin === undefined) return;
  c.header('Access-Control-Allow-Origin', origin);
  c.header('Access-Control-Allow-Credentials', 'true');
  c.header('Access-Control-Allow-Methods', 'GET, POST, OPTIONS');
  c.header(
    'Access-Control-Allow-Headers',
    c.req.header('access-control-request-headers') ?? 'X-Requested-With,Content-Type',
  );
  c.header('Vary', 'Origin');
}

/** Paths of people, with keys of their own: no site may call them from a browser. */
const CLOSED = /^\/(?:api|queues)(?:\/|$)/;

/** Lists for clients in browsers, by the project key. */
const OPEN = /^\/api\/(?:early_access_features|surveys|web_experiments)(?:\/|$)/;

/** Whether clients in browsers ask here: ingestion, and what they expect next to it, such as /decide. */
export const isForBrowsers = (path: string): boolean => !CLOSED.test(path) || OPEN.test(path);
