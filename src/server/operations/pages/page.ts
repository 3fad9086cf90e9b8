import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import { INSIGHT_STYLES } from '../../../charts/styles.ts';
import { OPERATIONS_STYLES } from './styles.ts';

/** A part of a page that is rendered again when it changes: by the id of its element. */
export type Fragments = Readonly<Record<string, Html>>;

export interface OperationsPage {
  readonly title: string;
  /** Where it is loaded again: the answer to a form has the address of an action. */
  readonly address: string;
  /** Address of the stream of its fragments. Absent: nothing of it changes by itself. */
  readonly live?: string;
  readonly body: Html;
}

const STYLES = `${OPERATIONS_STYLES}${INSIGHT_STYLES}`;
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLES).digest('base64')}'`,
  "script-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Of its own, as browsers ask for one in any case. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1d4fd7"/><path d="M4 12V9m4 3V4m4 8V7" stroke="#fff" stroke-width="2"/></svg>',
)}`;

/** A problem with a request: as a page for browsers, else as a line of text. */
export function respondWithProblem(
  c: Context,
  { title, text }: { readonly title: string; readonly text: string },
  status: 404 | 500,
): Response | Promise<Response> {
  const isBrowser = c.req.method === 'GET' && (c.req.header('accept') ?? '').includes('text/html');
  if (!isBrowser) return c.text(`${text}\n`, status);
  const body = html`<h1>${title}</h1><p class="notice">${text}</p>`;
  return respondWithPage(c, { title, address: c.req.path, body }, status);
}

/** How often a page without a script loads itself again, in seconds. */
const RELOAD_EVERY_S = 15;

/** A page without styles or scripts of its own: one style sheet by its hash, one script of this origin. */
export async function respondWithPage(
  c: Context,
  { title, address, live, body }: OperationsPage,
  status: 200 | 403 | 404 | 409 | 500 = 200,
): Promise<Response> {
  const page = await html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex, nofollow">
    ${live !== undefined && html`<noscript><meta http-equiv="refresh" content="${RELOAD_EVERY_S};url=${address}"></noscript>`}
    <title>${title}</title>
    <link rel="icon" href="${ICON}">
    <style>${raw(STYLES)}</style>
  </head>
  <body${live !== undefined && html` data-live="${live}"`}>
    <a class="skip" href="#main">Skip to the content</a>
    <div class="page">
      <nav class="top" aria-label="Pages"><a href="/">Migrations</a> <a href="/queues">Queues</a> <a href="/docs/">API</a> <span class="age" id="age" role="status"><a href="${address}">Reload</a></span></nav>
      <main id="main">${body}</main>
    </div>
    ${live !== undefined && html`<script src="/operations/live.js" defer></script>`}
  </body>
</html>
`;
  return c.html(page.toString(), status, { 'content-security-policy': POLICY, 'cache-control': 'no-store' });
}
