import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { onEveryDatabase } from '../../support/databases.ts';
import { type BoardApi, createBoardApi } from './board-api.ts';

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.integer({ min: -3, max: 100 }),
  fc.constantFrom(null, true, '', '37', 21, 37, 2 ** 31, 1e300, '\u0000', '\ud800', { __proto__: null }),
);
const some = (keys: readonly string[]) =>
  fc.record(Object.fromEntries(keys.map((key) => [key, value])), { requiredKeys: [] });

const text = some(['id', 'body']);
const insight = some(['id', 'name', 'description', 'filters', 'query', 'tags']);
const tile = fc.record(
  {
    id: value,
    text: fc.oneof(text, value),
    insight: fc.oneof(insight, value),
    layouts: value,
    color: value,
    deleted: value,
  },
  { requiredKeys: [] },
);
const fields = some([
  'name',
  'description',
  'pinned',
  'deleted',
  'use_template',
  'use_dashboard',
  'delete_insights',
  'filters',
  'tags',
  'restriction_level',
  'duplicate_tiles',
]);
const dashboard = fc
  .tuple(fields, fc.option(fc.array(fc.oneof(tile, value), { maxLength: 4 }), { nil: undefined }))
  .map(([body, tiles]) => (tiles === undefined ? body : { ...body, tiles }));
const template = fc.record({
  template_name: fc.oneof(fc.string(), value),
  dashboard_description: fc.oneof(fc.string(), value),
  dashboard_filters: fc.oneof(fc.constant({}), value),
  tiles: fc.array(
    fc.oneof(
      fc.record({
        type: fc.constantFrom('INSIGHT', 'TEXT', 'OTHER'),
        name: fc.string(),
        body: fc.string(),
        filters: value,
        layouts: value,
      }),
      value,
    ),
    { maxLength: 3 },
  ),
});

onEveryDatabase('dashboards and any input', (db) => {
  let board: BoardApi;
  beforeAll(async () => {
    board = await createBoardApi(db());
  });

  test('are left in order: each request succeeds or says what is wrong', async () => {
    const { id } = await board.make({});
    const request = fc.oneof(
      fc.record({ method: fc.constant('POST'), path: fc.constant(''), body: fc.oneof(dashboard, value) }),
      fc.record({
        method: fc.constant('PATCH'),
        path: fc.constant(`${id}/`),
        body: fc.oneof(dashboard, value),
      }),
      fc.record({
        method: fc.constant('POST'),
        path: fc.constant('create_from_template_json/'),
        body: fc.oneof(fc.record({ template }), value),
      }),
      fc.record({
        method: fc.constant('PATCH'),
        path: fc.constantFrom(`${id}/move_tile/`, `${id}/sharing/`),
        body: fc.oneof(some(['tile', 'toDashboard', 'enabled']), value),
      }),
      fc.record({
        method: fc.constant('POST'),
        path: fc.constant(`${id}/collaborators/`),
        body: fc.oneof(some(['level', 'user_uuid']), value),
      }),
    );
    await fc.assert(
      fc.asyncProperty(request, async ({ method, path, body }) => {
        const json = JSON.stringify(body);
        const response = await board.api.app.request(
          `/api/projects/${board.api.project.id}/dashboards/${path}`,
          {
            method,
            headers: { authorization: `Bearer ${board.api.personalKey}`, 'content-type': 'application/json' },
            body: json,
          },
        );
        expect([200, 201, 400, 404], json).toContain(response.status);
        if (response.status >= 400)
          expect(await response.json()).toMatchObject({ detail: expect.any(String) });
      }),
      { numRuns: 60 },
    );
    expect((await board.ask('GET', '?limit=1000')).status).toBe(200);
  }, 60_000);
});
