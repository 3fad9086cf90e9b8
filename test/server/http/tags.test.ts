import { beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';

onEveryDatabase('tags', (db) => {
  let api: TestApi;
  let things: string[];
  beforeAll(async () => {
    api = await createTestApi(db());
    await api.send({
      event: 'opened',
      distinct_id: 'ann',
      uuid: '018d0000-0000-7000-8000-000000000001',
      timestamp: '2024-01-10T12:00:00Z',
    });
    const made = async (path: string) => (await (await api.call('POST', path, {})).json()) as { id: number };
    const definitions = await api.read<{ results: { id: string }[] }>('event_definitions/');
    things = [
      `dashboards/${(await made('dashboards/')).id}/`,
      `insights/${(await made('insights/')).id}/`,
      `event_definitions/${definitions.results[0]?.id}/`,
    ];
  });

  const tagAll = async (tags: readonly string[]) =>
    Promise.all(
      things.map(async (path) => {
        const response = await api.call('PATCH', path, { tags });
        const body = (await response.json()) as { tags?: string[]; attr?: string };
        return { status: response.status, tags: body.tags, attr: body.attr };
      }),
    );
  const all = <T>(answer: T) => [answer, answer, answer];

  test('are kept alike by dashboards, insights and definitions', async () => {
    expect(await tagAll([' Growth ', 'growth', '', 'Q1'])).toEqual(
      all({ status: 200, tags: ['growth', 'q1'], attr: undefined }),
    );
  });

  test('have at most 255 characters', async () => {
    const longest = 'a'.repeat(255);
    expect(await tagAll([longest])).toEqual(all({ status: 200, tags: [longest], attr: undefined }));
    expect(await tagAll([`${longest}a`])).toEqual(all({ status: 400, tags: undefined, attr: 'tags__0' }));
  });

  test('are at most 100', async () => {
    const many = Array.from({ length: 100 }, (_, index) => `tag ${index}`);
    const kept = await tagAll(many);
    expect(kept.map(({ tags }) => new Set(tags))).toEqual(all(new Set(many)));
    expect(await tagAll([...many, 'one more'])).toEqual(all({ status: 400, tags: undefined, attr: 'tags' }));
  });
});
