import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type Api, addPublicRoute } from '../routing/route.ts';
import { describeApi, type OpenApiDocument } from './document.ts';

/** Swagger UI reads the document from this service; its own files come from the package, nothing from elsewhere. */
const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Backhaul: the bundled API</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"><p>This page shows <a href="/openapi.json">/openapi.json</a> and needs JavaScript for it.</p></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** A separate file, as the page's policy allows no inline script. No validator service is called. */
const DOCS_SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

const DOCS_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

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
