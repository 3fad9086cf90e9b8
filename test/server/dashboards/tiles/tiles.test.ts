import { beforeAll, describe, expect, test } from 'vitest';
import { onEveryDatabase } from '../../../support/databases.ts';
import {
  type BoardApi,
  createBoardApi,
  type Dashboard,
  expectError,
  pageviews,
  type Tile,
} from '../board-api.ts';

const layouts = { sm: { x: 0, y: 0, w: 6, h: 5 }, xs: { x: 0, y: 0, w: 1, h: 5 } };
const invalid = { type: 'validation_error', code: 'invalid_input' };

onEveryDatabase('tiles', (db) => {
  let board: BoardApi;
  beforeAll(async () => {
    board = await createBoardApi(db(), () => Date.parse('2024-03-10T12:00:00Z'));
    await board.api.send({
      event: '$pageview',
      distinct_id: 'ada',
      timestamp: '2024-03-09T10:00:00Z',
      properties: { $browser: 'Firefox' },
    });
  });
  const first = (tiles: readonly Tile[]): Tile => tiles[0] ?? expect.fail('there is no tile');
  const withTiles = async (...tiles: unknown[]) => {
    const { id } = await board.make({ name: 'tiles' });
    return board.change(id, { tiles });
  };

  describe('a text', () => {
    test('is added, with who wrote it, and changed by its tile', async () => {
      const made = await withTiles({ text: { body: '# Hello' }, layouts, color: 'blue' });
      const tile = first(made.tiles);
      const author = expect.objectContaining({ email: 'owner@backhaul.invalid' });
      expect(tile).toEqual({
        id: expect.any(Number),
        layouts,
        color: 'blue',
        insight: null,
        text: {
          id: expect.any(Number),
          body: '# Hello',
          created_by: author,
          last_modified_at: expect.any(String),
          last_modified_by: author,
          team: board.api.project.id,
        },
        last_refresh: null,
        is_cached: false,
      });
      const ada = await board.invite('member');
      const response = await ada.ask('PATCH', `${made.id}/`, {
        tiles: [{ id: tile.id, text: { id: tile.text?.id, body: 'Changed' } }],
      });
      const changed = first(((await response.json()) as { tiles: Tile[] }).tiles);
      expect(changed).toMatchObject({ id: tile.id, layouts, color: 'blue' });
      expect(changed.text).toMatchObject({
        id: tile.text?.id,
        body: 'Changed',
        created_by: { email: 'owner@backhaul.invalid' },
        last_modified_by: { email: ada.user.email },
      });
    });

    test('is found by its own id, and back when it had been taken off', async () => {
      const { id, tiles } = await withTiles({ text: { body: 'a' } });
      const { id: tileId, text } = first(tiles);
      expect((await board.change(id, { tiles: [{ id: tileId, deleted: true }] })).tiles).toEqual([]);
      const back = await board.change(id, { tiles: [{ text: { id: text?.id, body: 'b' } }] });
      expect(back.tiles).toMatchObject([{ id: tileId, text: { id: text?.id, body: 'b' } }]);
    });

    test('of another dashboard stays out of reach', async () => {
      const other = first((await withTiles({ text: { body: 'theirs' } })).tiles);
      const { id, tiles } = await withTiles({ text: { body: 'mine' } });
      const change = (item: unknown) => board.ask('PATCH', `${id}/`, { tiles: [item] });
      await expectError(change({ text: { id: other.text?.id, body: 'x' } }), 400, {
        ...invalid,
        attr: 'tiles__0__text__id',
        detail: 'Invalid value provided',
      });
      await expectError(change({ id: other.id, deleted: true }), 400, { attr: 'tiles__0__id' });
      await expectError(change({ id: first(tiles).id, text: { id: other.text?.id, body: 'x' } }), 400, {
        attr: 'tiles__0__text__id',
      });
    });

    test('holds 4000 characters and no more', async () => {
      const { id } = await withTiles({ text: { body: 'x'.repeat(4000) } });
      await expectError(
        board.ask('PATCH', `${id}/`, { tiles: [{ text: { body: 'x'.repeat(4001) } }] }),
        400,
        {
          code: 'max_length',
          attr: 'tiles__0__text__body',
          detail: 'Ensure this field has no more than 4000 characters.',
        },
      );
      await expectError(board.ask('PATCH', `${id}/`, { tiles: [{ text: {} }] }), 400, {
        code: 'required',
        attr: 'tiles__0__text__body',
      });
    });
  });

  describe('an insight', () => {
    test('is made, computed when the dashboard is retrieved, and not when it is changed', async () => {
      const made = await withTiles({ ...pageviews('Views'), layouts });
      const insight = first(made.tiles).insight;
      expect(insight).toMatchObject({
        name: 'Views',
        filters: { insight: 'TRENDS' },
        dashboards: [made.id],
        dashboard_tiles: [{ id: first(made.tiles).id, dashboard_id: made.id, deleted: false }],
        result: null,
        last_refresh: null,
        is_sample: false,
        created_by: { email: 'owner@backhaul.invalid' },
        effective_restriction_level: 21,
        effective_privilege_level: 37,
        timezone: 'UTC',
      });
      const read = first((await board.get(`${made.id}/`)).tiles);
      expect(read).toMatchObject({ last_refresh: '2024-03-10T12:00:00.000Z', is_cached: false });
      expect(read.insight).toMatchObject({
        last_refresh: '2024-03-10T12:00:00.000Z',
        is_cached: false,
        filters_hash: expect.any(String),
        result: [{ label: '$pageview', count: 1, data: [0, 0, 0, 0, 0, 0, 1, 0] }],
      });
      expect(first((await board.get(`${made.id}/`)).tiles)).toMatchObject({ is_cached: true });
      expect(first((await board.get(`${made.id}/?refresh=true`)).tiles)).toMatchObject({ is_cached: false });
      expect(first((await board.get(`${made.id}/?refresh=perhaps`)).tiles)).toMatchObject({
        is_cached: true,
      });
    });

    test('is computed over the dates of the dashboard', async () => {
      const { id } = await withTiles(pageviews('Views'));
      await board.change(id, { filters: { date_from: '2024-03-10', date_to: '2024-03-10' } });
      const { insight } = first((await board.get(`${id}/`)).tiles);
      expect(insight).toMatchObject({ result: [{ count: 0, days: ['2024-03-10'] }] });
    });

    test('that cannot be computed says why, and the others are there', async () => {
      const { id } = await withTiles(
        { insight: { name: 'None', filters: { insight: 'TRENDS', events: [] } } },
        pageviews('Views'),
      );
      const { tiles } = await board.get(`${id}/`);
      expect(tiles[0]).toMatchObject({
        error: { type: 'invalid', message: expect.any(String) },
        insight: { result: null },
      });
      expect(tiles[1]).toMatchObject({ insight: { result: [{ count: 1 }] } });
      expect(tiles[1]).not.toHaveProperty('error');
    });

    test('is put on a second dashboard, once', async () => {
      const one = await withTiles(pageviews('Views'));
      const insightId = first(one.tiles).insight?.id;
      const two = await withTiles({ insight: { id: insightId }, color: 'green' });
      expect(first(two.tiles).insight).toMatchObject({ id: insightId, dashboards: [one.id, two.id] });
      const again = await board.change(two.id, { tiles: [{ insight: { id: insightId }, color: 'black' }] });
      expect(again.tiles).toMatchObject([{ id: first(two.tiles).id, color: 'black' }]);
      await board.change(two.id, { tiles: [{ id: first(two.tiles).id, deleted: true }] });
      const back = await board.change(two.id, { tiles: [{ insight: { id: insightId } }] });
      expect(back.tiles).toMatchObject([{ id: first(two.tiles).id }]);
    });

    test('must be one of the project', async () => {
      const other = await createBoardApi(db());
      const { id: otherId } = await other.make({});
      const theirs = first((await other.change(otherId, { tiles: [pageviews('Theirs')] })).tiles);
      const { id } = await board.make({});
      for (const insight of [{ id: 999_999 }, { id: theirs.insight?.id }]) {
        await expectError(board.ask('PATCH', `${id}/`, { tiles: [{ insight }] }), 400, {
          ...invalid,
          attr: 'tiles__0__insight__id',
          detail: 'Invalid value provided',
        });
      }
      await expectError(board.ask('PATCH', `${id}/`, { tiles: [{ insight: { name: 'empty' } }] }), 400, {
        attr: 'tiles__0__insight',
        detail: 'An insight needs filters or a query.',
      });
    });
  });

  test('tiles sent back as they came change nothing', async () => {
    const made = await withTiles({ text: { body: 'a' }, layouts }, pageviews('Views'));
    const read = await board.get(`${made.id}/`);
    await board.change(made.id, { tiles: read.tiles });
    const again = await board.get(`${made.id}/`);
    expect(again.tiles.map(({ id, layouts: at, color }) => ({ id, at, color }))).toEqual(
      read.tiles.map(({ id, layouts: at, color }) => ({ id, at, color })),
    );
    expect(again.tiles[0]?.text).toEqual(read.tiles[0]?.text);
  });

  test('one item of several that is wrong leaves all as it was', async () => {
    const { id, tiles } = await withTiles({ text: { body: 'a' } });
    const response = await board.ask('PATCH', `${id}/`, {
      name: 'not this',
      tiles: [{ id: first(tiles).id, deleted: true }, { layouts: {} }],
    });
    await expectError(response, 400, { attr: 'tiles__1', detail: 'A new tile needs a text or an insight.' });
    expect(await board.get(`${id}/`)).toMatchObject({ name: 'tiles', tiles: [{ text: { body: 'a' } }] });
  });

  test('what is wrong with the list or with looks is said', async () => {
    const { id, tiles } = await withTiles({ text: { body: 'a' } });
    const tileId = first(tiles).id;
    const change = (items: unknown) => board.ask('PATCH', `${id}/`, { tiles: items });
    await expectError(change('x'), 400, { detail: 'Expected a list of items but got type "str".' });
    await expectError(change([{ id: tileId, layouts: [] }]), 400, { attr: 'tiles__0__layouts' });
    await expectError(change([{ id: tileId, layouts: { a: 'x'.repeat(10_000) } }]), 400, {
      attr: 'tiles__0__layouts',
      detail: 'Ensure this field has no more than 10000 characters.',
    });
    await expectError(change([{ id: tileId, color: 'x'.repeat(401) }]), 400, { code: 'max_length' });
    await expectError(change(Array(101).fill({ id: tileId })), 400, { code: 'max_length', attr: 'tiles' });
  });

  test('a dashboard holds a hundred tiles', async () => {
    const { id } = await board.make({});
    const texts = Array.from({ length: 100 }, (_, index) => ({ text: { body: String(index) } }));
    const full = await board.change(id, { tiles: texts });
    expect(full.tiles.map(({ text }) => text?.body)).toEqual(texts.map(({ text }) => text.body));
    await expectError(board.ask('PATCH', `${id}/`, { tiles: [{ text: { body: 'more' } }] }), 400, {
      ...invalid,
      attr: 'tiles',
      detail: 'A dashboard holds at most 100 tiles.',
    });
    const swap = [{ id: first(full.tiles).id, deleted: true }, { text: { body: 'more' } }];
    expect((await board.change(id, { tiles: swap })).tiles).toHaveLength(100);
  });

  describe('deleting a dashboard', () => {
    test('takes its tiles off and leaves insights, unless asked to delete those that are nowhere else', async () => {
      const one = await withTiles(pageviews('Both'), pageviews('Here'), { text: { body: 'a' } });
      const [both, here] = one.tiles.map(({ insight }) => insight?.id);
      const two = await withTiles({ insight: { id: both } });
      await board.change(one.id, { deleted: true, delete_insights: true });
      expect((await board.get(`${two.id}/`)).tiles).toHaveLength(1);
      await expectError(board.ask('PATCH', `${two.id}/`, { tiles: [{ insight: { id: here } }] }), 400, {
        attr: 'tiles__0__insight__id',
      });
      const back = await board.change(one.id, { deleted: false });
      expect(back.tiles.map(({ insight }) => insight?.id)).toEqual([both, here, undefined]);
      expect((await board.change(two.id, { tiles: [{ insight: { id: here } }] })).tiles).toHaveLength(2);

      await board.change(one.id, { deleted: true });
      await board.change(two.id, { deleted: true });
      const three = await withTiles({ insight: { id: both } }, { insight: { id: here } });
      expect(three.tiles).toHaveLength(2);
    });

    test('says in the answer whether insights were to go', async () => {
      const { id } = await board.make({});
      expect(await board.change(id, { deleted: true, delete_insights: true })).toMatchObject({
        deleted: true,
        delete_insights: true,
        tiles: [],
      });
    });
  });

  describe('moving a tile', () => {
    test('answers with the dashboard that it was on', async () => {
      const from = await withTiles({ text: { body: 'moves' }, layouts }, { text: { body: 'stays' } });
      const to = await board.make({ name: 'to' });
      const move = { tile: { id: first(from.tiles).id, layouts: {} }, toDashboard: to.id };
      const response = await board.ask('PATCH', `${from.id}/move_tile/`, move);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ id: from.id, tiles: [{ text: { body: 'stays' } }] });
      expect((await board.get(`${to.id}/`)).tiles).toMatchObject([
        { id: first(from.tiles).id, layouts, text: { body: 'moves' } },
      ]);
    });

    test('is refused where there is no such tile or dashboard', async () => {
      const from = await withTiles({ text: { body: 'a' } });
      const to = await board.make({});
      const tile = { id: first(from.tiles).id };
      const move = (body: unknown, id: number | string = from.id) =>
        board.ask('PATCH', `${id}/move_tile/`, body);
      await expectError(move({ tile: { id: 999_999 }, toDashboard: to.id }), 404, { detail: 'Not found.' });
      await expectError(move({ tile, toDashboard: 999_999 }), 404, { detail: 'Dashboard not found.' });
      await expectError(move({ tile, toDashboard: to.id }, 999_999), 404, { detail: 'Not found.' });
      await expectError(move({ tile }), 400, { code: 'required', attr: 'toDashboard' });
      await expectError(move({ toDashboard: to.id }), 400, { code: 'required', attr: 'tile' });
      await expectError(move({ tile: {}, toDashboard: to.id }), 400, { attr: 'tile__id' });
      await board.change(to.id, { deleted: true });
      await expectError(move({ tile, toDashboard: to.id }), 404, { detail: 'Dashboard not found.' });
    });

    test('keeps each insight once on a dashboard', async () => {
      const from = await withTiles(pageviews('Views'));
      const tile = first(from.tiles);
      const to = await withTiles({ insight: { id: tile.insight?.id } });
      const move = { tile: { id: tile.id }, toDashboard: to.id };
      await expectError(board.ask('PATCH', `${from.id}/move_tile/`, move), 400, {
        ...invalid,
        attr: 'toDashboard',
        detail: 'The dashboard shows this already.',
      });
      await board.change(to.id, { tiles: [{ id: first(to.tiles).id, deleted: true }] });
      expect((await board.ask('PATCH', `${from.id}/move_tile/`, move)).status).toBe(200);
      expect((await board.get(`${to.id}/`)).tiles).toMatchObject([{ id: tile.id }]);
    });

    test('there and back at once ends in one of the two places', async () => {
      const one = await withTiles({ text: { body: 'a' } }, { text: { body: 'b' } });
      const two = await withTiles({ text: { body: 'c' } });
      const [a, b] = one.tiles;
      await Promise.all([
        board.ask('PATCH', `${one.id}/move_tile/`, { tile: { id: a?.id }, toDashboard: two.id }),
        board.ask('PATCH', `${two.id}/move_tile/`, {
          tile: { id: first(two.tiles).id },
          toDashboard: one.id,
        }),
        board.ask('PATCH', `${one.id}/move_tile/`, { tile: { id: b?.id }, toDashboard: two.id }),
      ]);
      const bodies = async (id: number) => (await board.get(`${id}/`)).tiles.map(({ text }) => text?.body);
      expect(await bodies(one.id)).toEqual(['c']);
      expect(new Set(await bodies(two.id))).toEqual(new Set(['a', 'b']));
    });
  });

  test('a text that a copy shows too is copied when one of the two changes it', async () => {
    const original = await board.make({});
    await board.change(original.id, { tiles: [{ text: { body: 'as it was' } }] });
    const ada = await board.invite('member');
    const copied = await ada.ask('POST', '', { use_dashboard: original.id });
    const copy = (await copied.json()) as Dashboard;
    await board.change(original.id, { restriction_level: 37 });
    const changed = await ada.ask('PATCH', `${copy.id}/`, {
      tiles: [{ id: copy.tiles[0]?.id, text: { body: 'by Ada' } }],
    });
    expect(changed.status).toBe(200);
    expect(((await changed.json()) as Dashboard).tiles[0]?.text?.body).toBe('by Ada');
    expect((await board.get(`${original.id}/`)).tiles[0]?.text?.body).toBe('as it was');
  });
});
