import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Api, addPublicRoute } from '../routing/route.ts';
import { DOCS_PAGE, DOCS_POLICY, DOCS_SCRIPT } from './docs-page.ts';
import { describeApi, type OpenApiDocument } from './document.ts';

const ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

const POLICY = { 'content-security-policy': DOCS_POLICY };

const access = { methods: ['GET'], public: 'open: describes the API' } as const;

/** `/openapi.json`, and `/docs/` as a page. Call it after every other route has been added. */
export function addDocsRoutes(api: Api): void {
  let described: OpenApiDocument | undefined;
  addPublicRoute(api, { ...access, path: '/openapi.json' }, (c) => {
    described ??= describeApi(api.app);
    return c.json(described);
  });
  addPublicRoute(api, { ...access, path: '/docs' }, (c) => c.redirect('/docs/', 301));
  addPublicRoute(api, { ...access, path: '/docs/' }, (c) => c.html(DOCS_PAGE, 200, POLICY));
  addPublicRoute(api, { ...access, path: '/docs/start.js' }, (c) =>
    c.body(DOCS_SCRIPT, 200, { ...POLICY, 'content-type': 'text/javascript; charset=utf-8' }),
  );
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const [name, contentType] of Object.entries(ASSETS)) {
    addPublicRoute(api, { ...access, path: `/docs/${name}` }, async (c) =>
      c.body(new Uint8Array(await readFile(join(folder, name))), 200, {
        ...POLICY,
        'content-type': contentType,
        'cache-control': 'public, max-age=86400',
      }),
    );
  }
}
