import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiEnv } from '../auth/access.ts';
import { DOCS_PAGE, DOCS_POLICY, DOCS_SCRIPT } from './docs-page.ts';
import { describeApi, type OpenApiDocument } from './document.ts';

const ASSETS = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;

const POLICY = { 'content-security-policy': DOCS_POLICY };

/** `/openapi.json`, and `/docs/` for people. Call it when every other route is there. */
export function addDocsRoutes(api: OpenAPIHono<ApiEnv>): void {
  let described: OpenApiDocument | undefined;
  api.get('/openapi.json', (c) => {
    described ??= describeApi(api);
    return c.json(described);
  });
  api.get('/docs', (c) => c.redirect('/docs/', 301));
  api.get('/docs/', (c) => c.html(DOCS_PAGE, 200, POLICY));
  api.get('/docs/start.js', (c) =>
    c.body(DOCS_SCRIPT, 200, { ...POLICY, 'content-type': 'text/javascript; charset=utf-8' }),
  );
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  for (const [name, contentType] of Object.entries(ASSETS)) {
    api.get(`/docs/${name}`, async (c) =>
      c.body(new Uint8Array(await readFile(join(folder, name))), 200, {
        ...POLICY,
        'content-type': contentType,
        'cache-control': 'public, max-age=86400',
      }),
    );
  }
}
