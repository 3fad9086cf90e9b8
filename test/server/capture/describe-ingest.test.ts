import { OpenAPIHono } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import type { ApiEnv } from '../../../src/server/auth/access.ts';
import { describeIngest } from '../../../src/server/capture/describe-ingest.ts';
import { describeApi } from '../../../src/server/openapi/document.ts';

interface Document {
  readonly paths: Record<
    string,
    { post: { security: unknown; requestBody: { content: unknown }; responses: Record<string, unknown> } }
  >;
}

test.each([
  ['/batch/', '#/components/schemas/BatchRequest'],
  ['/capture/', '#/components/schemas/CaptureRequest'],
])('%s stands in the document with its bodies, its answers and no personal key', (path, body) => {
  const api = new OpenAPIHono<ApiEnv>();
  describeIngest(api);
  const document = JSON.parse(JSON.stringify(describeApi(api))) as Document;
  const operation = document.paths[path]?.post;
  expect(operation?.security).toEqual([]);
  expect(operation?.requestBody.content).toEqual({
    'application/json': { schema: { $ref: body } },
    'application/x-www-form-urlencoded': { schema: { $ref: '#/components/schemas/IngestForm' } },
  });
  expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '400', '401', '413', '415', '429', '503']);
});

test('every path that takes events stands in the document', () => {
  const api = new OpenAPIHono<ApiEnv>();
  describeIngest(api);
  const paths = Object.keys(describeApi(api).paths ?? {});
  expect(paths.sort()).toEqual(['/batch/', '/capture/', '/e/', '/engage/', '/i/v0/e/', '/track/']);
});
