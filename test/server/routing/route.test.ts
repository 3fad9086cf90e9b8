import { z } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { addRoute, createApi } from '../../../src/server/routing/route.ts';

test('a personal key that came with the input reaches no handler, and all else does', async () => {
  const api = createApi();
  addRoute(
    api,
    {
      method: 'post',
      path: '/any/',
      summary: 'Takes anything',
      tag: 'Test',
      query: z.looseObject({}),
      body: z.unknown(),
      anyKey: 'a test',
      responses: {},
    },
    ({ c, query, body }) => c.json({ query, body }),
  );
  const send = async (query: string, body: string) =>
    (
      await api.app.request(`/any/${query}`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
    ).json();
  expect(await send('?a=1&personal_api_key=phx_a', '{"b":2,"personal_api_key":"phx_b"}')).toEqual({
    query: { a: '1' },
    body: { b: 2 },
  });
  expect(await send('?a=1', '["personal_api_key"]')).toEqual({
    query: { a: '1' },
    body: ['personal_api_key'],
  });
  expect(await send('', '{"inner":{"personal_api_key":"theirs"}}')).toEqual({
    query: {},
    body: { inner: { personal_api_key: 'theirs' } },
  });
});
