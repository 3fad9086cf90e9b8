import type { OpenAPIHono } from '@hono/zod-openapi';
import type { ApiEnv } from '../auth/access.ts';

export type OpenApiDocument = ReturnType<OpenAPIHono<ApiEnv>['getOpenAPI31Document']>;

/** The OpenAPI 3.1 document of every route registered so far, made of the schemas that validate. */
export function describeApi(api: OpenAPIHono<ApiEnv>): OpenApiDocument {
  api.openAPIRegistry.registerComponent('securitySchemes', 'personalApiKey', {
    type: 'http',
    scheme: 'bearer',
    description:
      'A personal API key (`phx_…`) with the scopes listed at each operation; `x:write` includes `x:read`, ' +
      '`*` everything. The ingestion endpoints take the project API key (`phc_…`) in the body instead.',
  });
  return api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Backhaul: the bundled API',
      version: '1',
      description:
        'Speaks the contract of the service that history is moved to, so that a migration can be rehearsed. ' +
        'A trailing slash is optional. Errors carry `type`, `code`, `detail` and `attr`.',
    },
    servers: [{ url: '/' }],
  });
}
