import { expect, test } from 'vitest';
import { describeIngest } from '../../../src/server/capture/describe-ingest.ts';
import { describeApi } from '../../../src/server/openapi/document.ts';
import { createApi } from '../../../src/server/routing/route.ts';

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
  const api = createApi();
  describeIngest(api);
  const document = JSON.parse(JSON.stringify(describeApi(api.app))) as Document;
  const operation = document.paths[path]?.post;
  expect(operation?.security).toEqual([]);
  expect(operation?.requestBody.content).toEqual({
    'application/json': { schema: { $ref: body } },
    'application/x-www-form-urlencoded': { schema: { $ref: '#/components/schemas/IngestForm' } },
  });
  expect(Object.keys(operation?.responses ?? {})).toEqual(['200', '400', '401', '413', '415', '429', '503']);
});

test('every path that takes events stands in the document', () => {
  const api = createApi();
  describeIngest(api);
  const paths = Object.keys(describeApi(api.app).paths ?? {});
  expect(paths.sort()).toEqual(['/batch/', '/capture/', '/e/', '/engage/', '/i/v0/e/', '/track/']);
});
