import { beforeAll, describe, expect, test } from 'vitest';
import { loadActivity } from '../../../src/server/activity/activity-log.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { type BoardApi, createBoardApi, type Dashboard, expectError } from './board-api.ts';

interface List {
  readonly count: number;
  readonly next: string | null;
  readonly previous: string | null;
  readonly results: Dashboard[];
}

const LISTED = [
  'id',
  'name',
  'description',
  'pinned',
  'created_at',
  'created_by',
  'is_shared',
  'deleted',
  'creation_mode',
  'tags',
  'restriction_level',
  'effective_restriction_level',
  'effective_privilege_level',
];
const SINGLE = [...LISTED, 'use_template', 'use_dashboard', 'delete_insights', 'filters', 'tiles'];

onEveryDatabase('dashboards', (db) => {
  let board: BoardApi;
  beforeAll(async () => {
    board = await createBoardApi(db());
  });
  const invalid = { type: 'validation_error', code: 'invalid_input' };

  describe('creating', () => {
    test('needs no field at all', async () => {
      const made = await board.make({});
      expect(Object.keys(made).sort()).toEqual([...SINGLE].sort());
      expect(made).toMatchObject({
        name: null,
        description: '',
        pinned: false,
        deleted: false,
        is_shared: false,
        creation_mode: 'default',
        use_template: '',
        use_dashboard: null,
        delete_insights: false,
        filters: {},
        tags: [],
        tiles: [],
        restriction_level: 21,
        effective_restriction_level: 21,
        effective_privilege_level: 37,
        created_by: { email: 'owner@backhaul.invalid', distinct_id: expect.any(String) },
      });
      expect(new Date(String(made['created_at'])).toISOString()).toBe(made['created_at']);
    });

    test('keeps every field that is given, numbers to the last digit', async () => {
      const response = await board.ask('POST', '', {});
      expect(response.status).toBe(201);
      const raw = await board.api.app.request(`/api/projects/${board.api.project.id}/dashboards`, {
        method: 'POST',
        headers: { authorization: `Bearer ${board.api.personalKey}`, 'content-type': 'application/json' },
        body: '{"name":"Größe","filters":{"properties":[{"key":"id","value":1234567890123456789}]}}',
      });
      expect(await raw.text()).toContain('1234567890123456789');
      const body = {
        name: 'All of it',
        description: 'What it shows',
        pinned: true,
        filters: { date_from: '-30d' },
        tags: [' Growth ', 'growth', 'B', ''],
        restriction_level: 37,
      };
      expect(await board.make(body)).toMatchObject({ ...body, tags: ['growth', 'b'] });
    });

    test.each([
      [{ name: 'x'.repeat(401) }, 'name', 'max_length', 'Ensure this field has no more than 400 characters.'],
      [{ name: [] }, 'name', 'invalid_input', 'Not a valid string.'],
      [{ description: null }, 'description', 'null', 'This field may not be null.'],
      [{ description: 'x'.repeat(10_001) }, 'description', 'max_length', /10000/],
      [{ pinned: 'perhaps' }, 'pinned', 'invalid_input', 'Must be a valid boolean.'],
      [{ filters: [] }, 'filters', 'invalid_input', 'Filters must be a dictionary'],
      [{ filters: 'date_from' }, 'filters', 'invalid_input', 'Filters must be a dictionary'],
      [{ filters: { a: 'x'.repeat(100_000) } }, 'filters', 'invalid_input', /100000 characters/],
      [{ tags: 'a' }, 'tags', 'invalid_input', 'Expected a list of items but got type "str".'],
      [{ tags: ['x'.repeat(256)] }, 'tags__0', 'max_length', /255/],
      [{ tags: Array(101).fill('a') }, 'tags', 'max_length', /100/],
      [{ restriction_level: 99 }, 'restriction_level', 'invalid_choice', '"99" is not a valid choice.'],
      [{ restriction_level: null }, 'restriction_level', 'null', 'This field may not be null.'],
      [{ use_dashboard: '' }, 'use_dashboard', 'invalid_input', 'A valid integer is required.'],
      [{ use_dashboard: 999_999 }, 'use_dashboard', 'invalid_input', 'Invalid value provided'],
      [{ use_template: 'NONE' }, 'use_template', 'invalid_input', 'Invalid template provided: NONE'],
      [
        { use_template: 'DEFAULT_APP', use_dashboard: 1 },
        null,
        'invalid_input',
        '`use_dashboard` and `use_template` cannot be used together',
      ],
      [[], null, 'invalid_input', 'Invalid data. Expected a dictionary, but got list.'],
    ])('refuses %j', async (body, attr, code, detail) => {
      const expected = { type: 'validation_error', code, attr };
      await expectError(board.ask('POST', '', body), 400, {
        ...expected,
        detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
      });
    });

    test('takes what is just within the bounds', async () => {
      const made = await board.make({
        name: 'x'.repeat(400),
        description: 'x'.repeat(10_000),
        tags: Array.from({ length: 100 }, (_, index) => String(index).padEnd(255, 'x')),
        filters: { a: 'x'.repeat(99_992) },
        use_template: '',
        use_dashboard: null,
      });
      expect(made['tags']).toHaveLength(100);
    });

    test('may make one that is deleted from the start', async () => {
      const made = await board.make({ name: 'hidden', deleted: true });
      expect(made).toMatchObject({ name: 'hidden', deleted: true });
      await expectError(board.ask('GET', `${made.id}/`), 404, { code: 'not_found' });
      expect(await board.change(made.id, { deleted: false })).toMatchObject({ deleted: false });
    });

    test('refuses a body that is not JSON', async () => {
      const response = await board.api.app.request(`/api/projects/${board.api.project.id}/dashboards/`, {
        method: 'POST',
        headers: { authorization: `Bearer ${board.api.personalKey}`, 'content-type': 'application/json' },
        body: '{"name":',
      });
      await expectError(response, 400, { type: 'invalid_request', code: 'parse_error', attr: null });
    });
  });

  describe('the list', () => {
    test('is ordered by name, paged, without deleted ones, in the shorter form', async () => {
      const own = await createBoardApi(db());
      for (const name of ['c', 'a', null, 'b', 'd']) await own.make({ name });
      const gone = await own.make({ name: 'aa' });
      await own.change(gone.id, { deleted: true });
      const all = await own.get<List>('');
      expect(all.count).toBe(5);
      expect(all.results.map(({ name }) => name)).toEqual(['a', 'b', 'c', 'd', null]);
      expect(Object.keys(all.results[0] ?? {}).sort()).toEqual([...LISTED].sort());
      const url = `http://localhost/api/projects/${own.api.project.id}/dashboards/`;
      const page = await own.get<List>('?limit=2&offset=2');
      expect(page).toMatchObject({
        count: 5,
        next: `${url}?limit=2&offset=4`,
        previous: `${url}?limit=2`,
        results: [{ name: 'c' }, { name: 'd' }],
      });
      expect((await own.get<List>('?limit=0&offset=x')).results).toHaveLength(5);
    });

    test('holds the dashboards of its project only', async () => {
      const other = await createBoardApi(db());
      const theirs = await other.make({ name: 'theirs' });
      const mine = await board.get<List>('?limit=1000');
      expect(mine.results.map(({ id }) => id)).not.toContain(theirs.id);
      await expectError(board.ask('GET', `${theirs.id}/`), 404, { code: 'not_found', detail: 'Not found.' });
      await expectError(board.ask('PATCH', `${theirs.id}/`, {}), 404, { detail: 'Not found.' });
      await expectError(board.ask('POST', '', { use_dashboard: theirs.id }), 400, {
        ...invalid,
        attr: 'use_dashboard',
      });
    });
  });

  describe('changing', () => {
    test('leaves what is not named, takes forms, and replaces all tags', async () => {
      const { id } = await board.make({ name: 'first', description: 'kept', tags: ['a', 'b'] });
      expect(await board.change(id, { tags: ['C'], pinned: true })).toMatchObject({
        name: 'first',
        description: 'kept',
        pinned: true,
        tags: ['c'],
      });
      expect(await board.change(id, 'name=replaced&pinned=false')).toMatchObject({
        name: 'replaced',
        pinned: false,
      });
      expect(await board.change(id, { name: null, tags: [] })).toMatchObject({ name: null, tags: [] });
      expect(await board.get(`${id}`)).toMatchObject({ name: null, description: 'kept' });
    });

    test('tells that a dashboard is missing before what is wrong with the body', async () => {
      await expectError(board.ask('PATCH', '999999/', { pinned: 'perhaps' }), 404, { detail: 'Not found.' });
      await expectError(board.ask('PATCH', 'abc/', {}), 404, { detail: 'Not found.' });
      await expectError(board.ask('GET', '99999999999/'), 404, { detail: 'Not found.' });
    });

    test('ignores where a dashboard came from, and refuses both origins', async () => {
      const { id } = await board.make({ name: 'made' });
      expect(await board.change(id, { use_template: 'DEFAULT_APP' })).toMatchObject({
        creation_mode: 'default',
        use_template: '',
        tiles: [],
      });
      await expectError(board.ask('PATCH', `${id}/`, { use_template: 'a', use_dashboard: id }), 400, {
        ...invalid,
        attr: null,
      });
    });

    test('is refused by DELETE, without a body', async () => {
      const { id } = await board.make({ name: 'stays' });
      const response = await board.ask('DELETE', `${id}/`);
      expect(response.status).toBe(405);
      expect(await response.text()).toBe('');
      expect(response.headers.get('allow')).toBe('GET, PATCH');
      expect(await board.get(`${id}/`)).toMatchObject({ deleted: false });
      const reader = await board.invite('owner', ['dashboard:read']);
      await expectError(reader.ask('DELETE', `${id}/`), 403, {
        detail: "API key missing required scope 'dashboard:write'",
      });
    });
  });

  describe('deleting', () => {
    test('hides a dashboard until `deleted: false` alone brings it back', async () => {
      const { id } = await board.make({ name: 'comes back' });
      expect(await board.change(id, { deleted: true, name: 'gone' })).toMatchObject({
        deleted: true,
        name: 'gone',
        tiles: [],
      });
      await expectError(board.ask('GET', `${id}/`), 404, { code: 'not_found' });
      for (const body of [{ name: 'x' }, { deleted: false, name: 'x' }, { deleted: true }, {}]) {
        await expectError(board.ask('PATCH', `${id}/`, body), 404, { code: 'not_found' });
      }
      expect(await board.change(id, { deleted: false })).toMatchObject({ deleted: false, name: 'gone' });
      expect(await board.get(`${id}/`)).toMatchObject({ deleted: false });
      await board.change(id, { deleted: true });
      expect(await board.change(id, 'deleted=false')).toMatchObject({ deleted: false });
      await board.change(id, { deleted: true });
      const keyed = { deleted: false, personal_api_key: board.api.personalKey };
      expect(await board.change(id, keyed)).toMatchObject({ deleted: false });
    });
  });

  test('what was done is in the activity log, and nothing when nothing changed', async () => {
    const own = await createBoardApi(db());
    const { id } = await own.make({ name: 'logged' });
    await own.change(id, { name: 'renamed', pinned: false });
    await own.change(id, { name: 'renamed' });
    await own.change(id, { deleted: true });
    await own.change(id, { deleted: false });
    const log = { projectId: own.api.project.id, scope: 'Dashboard', itemId: String(id) };
    const { activities } = await loadActivity(db(), log, { limit: 10, offset: 0 });
    expect(activities.map(({ activity }) => activity)).toEqual(['restored', 'deleted', 'updated', 'created']);
    expect(JSON.parse(activities[2]?.detail ?? '')).toEqual({
      name: 'renamed',
      changes: [{ type: 'Dashboard', action: 'changed', field: 'name', before: 'logged', after: 'renamed' }],
    });
  });

  test('of two changes at once none is lost', async () => {
    const { id } = await board.make({ name: 'busy' });
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        board.change(id, { tiles: [{ text: { body: `text ${index}` } }] }),
      ),
    );
    await Promise.all([
      board.change(id, { name: 'new name' }),
      board.change(id, { description: 'new words' }),
    ]);
    const after = await board.get(`${id}/`);
    expect(after.tiles).toHaveLength(8);
    expect(after).toMatchObject({ name: 'new name', description: 'new words' });
  });
});
