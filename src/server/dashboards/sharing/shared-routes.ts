import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { ApiEnv } from '../../auth/access.ts';
import { notFound } from '../../http/errors.ts';
import { respondWithLargeJson } from '../../http/response.ts';
import { type Api, addPublicRoute } from '../../routing/route.ts';
import type { DashboardDeps } from '../dashboard-deps.ts';
import { loadDashboard } from '../store.ts';
import { computeTiles, viewTiles } from '../tiles/view-tiles.ts';
import { renderSharedJson } from './render-shared-json.ts';
import { type Page, renderGonePage, renderSharedPage, type SharedView } from './render-shared-page.ts';
import { findShared } from './store.ts';

/** No cache and no search engine may keep what sharing can take back. */
const PRIVATE_HEADERS = { 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow' };

const access = { methods: ['GET'], public: 'the access token of a dashboard that is shared' } as const;

/**
 * The public pages, for everybody who has the link: `/shared/<token>`, `/embedded/<token>` for a frame in
 * another page, and both with `.json`. They take no key: the token is the permission.
 */
export function addSharedRoutes(api: Api, deps: DashboardDeps): void {
  for (const place of ['shared', 'embedded'] as const) {
    addPublicRoute(api, { ...access, path: `/${place}/:file{[\\w-]+\\.json}` }, async (c) => {
      for (const [name, value] of Object.entries(PRIVATE_HEADERS)) c.header(name, value);
      const view = await openShared(deps, (c.req.param('file') ?? '').replace(/\.json$/, ''));
      if (view === undefined) throw notFound();
      return respondWithLargeJson(c, renderSharedJson(view));
    });
    addPublicRoute(api, { ...access, path: `/${place}/:token/` }, async (c) => {
      const view = await openShared(deps, c.req.param('token') ?? '');
      const embedded = place === 'embedded';
      if (view === undefined) return respondWithPage(c, await renderGonePage(), 404, embedded);
      return respondWithPage(c, await renderSharedPage(view, embedded), 200, embedded);
    });
  }
}

/** The form of createAccessToken: nothing else is looked up in the database. */
const TOKEN = /^[\w-]{30}$/;

async function openShared(deps: DashboardDeps, token: string): Promise<SharedView | undefined> {
  const shared = TOKEN.test(token) ? await findShared(deps.db, token) : undefined;
  const dashboard = shared && (await loadDashboard(deps.db, shared.projectId, shared.id));
  if (dashboard === undefined) return undefined;
  const found = await viewTiles(deps.db, dashboard);
  const views = await computeTiles(deps, dashboard, found);
  const computed = views.flatMap(({ result }) => (result?.kind === 'computed' ? [result.computedAt] : []));
  return { dashboard, views, asOf: computed.sort()[0] ?? new Date(deps.now()).toISOString() };
}

function respondWithPage(c: Context<ApiEnv>, page: Page, status: 200 | 404, framed: boolean): Response {
  const hash = createHash('sha256').update(page.styles).digest('base64');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${framed ? '*' : "'none'"}`,
  ];
  return c.html(page.html, status, { ...PRIVATE_HEADERS, 'content-security-policy': policy.join('; ') });
}
