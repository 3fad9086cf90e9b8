import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadActivity } from '../../../../src/server/activity/activity-log.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { type BoardApi, createBoardApi, expectError, pageviews } from '../board-api.ts';

interface Sharing {
  readonly created_at: string | null;
  readonly enabled: boolean;
  readonly access_token: string;
}

onEveryDatabase('sharing', (db) => {
  let board: BoardApi;
  beforeAll(async () => {
    board = await createBoardApi(db(), () => Date.parse('2024-03-10T12:00:00Z'));
    await board.api.send({
      event: '$pageview',
      distinct_id: 'ada',
      timestamp: '2024-03-09T10:00:00Z',
      properties: { $current_url: 'https://example.com/?a=<b>' },
    });
  });
  const turn = async (id: number, enabled: unknown): Promise<Sharing> => {
    const response = await board.ask('PATCH', `${id}/sharing/`, { enabled });
    expect(response.status).toBe(200);
    return (await response.json()) as Sharing;
  };
  const visit = (path: string) => board.api.app.request(path);

  describe('its configuration', () => {
    test('gives a new token each time until one is stored, which then stays', async () => {
      const { id } = await board.make({});
      const first = await board.get<Sharing>(`${id}/sharing/`);
      expect(first).toEqual({
        created_at: null,
        enabled: false,
        access_token: expect.stringMatching(/^[\w-]{30}$/),
      });
      expect((await board.get<Sharing>(`${id}/sharing/`)).access_token).not.toBe(first.access_token);
      const on = await turn(id, true);
      expect(on).toMatchObject({ enabled: true, created_at: expect.any(String) });
      expect(await board.get(`${id}/sharing/`)).toEqual(on);
      expect(await board.get(`${id}/`)).toMatchObject({ is_shared: true });
      expect(await turn(id, 'false')).toEqual({ ...on, enabled: false });
      expect(await board.get(`${id}/`)).toMatchObject({ is_shared: false });
      expect(await turn(id, undefined)).toEqual({ ...on, enabled: false });
      expect(await turn(id, true)).toEqual(on);
    });

    test('is there for dashboards that are there, and takes a boolean', async () => {
      const { id } = await board.make({});
      await expectError(board.ask('PATCH', `${id}/sharing/`, { enabled: 'perhaps' }), 400, {
        attr: 'enabled',
        detail: 'Must be a valid boolean.',
      });
      await board.change(id, { deleted: true });
      for (const wrong of [id, 999_999, 'abc']) {
        for (const method of ['GET', 'PATCH']) {
          const body = method === 'GET' ? undefined : {};
          await expectError(board.ask(method, `${wrong}/sharing/`, body), 404, {
            code: 'not_found',
            detail: 'Dashboard not found.',
          });
        }
      }
    });

    test('is in the activity log, once for each turn', async () => {
      const own = await createBoardApi(db());
      const { id } = await own.make({});
      for (const enabled of [false, true, true, false]) await own.ask('PATCH', `${id}/sharing/`, { enabled });
      const log = { projectId: own.api.project.id, scope: 'Dashboard', itemId: String(id) };
      const { activities } = await loadActivity(db(), log, { limit: 10, offset: 0 });
      expect(activities.map(({ activity }) => activity)).toEqual([
        'sharing disabled',
        'sharing enabled',
        'created',
      ]);
    });
  });

  describe('its public page', () => {
    test('is made, shown to whoever has the link, and taken back', async () => {
      const { id } = await board.make({
        name: 'Überblick <1>',
        description: 'Two\nlines',
        filters: { date_from: '-7d' },
      });
      await board.change(id, {
        tiles: [
          { ...pageviews('Views & more'), layouts: { sm: { x: 0, y: 0, w: 12, h: 4 } }, color: 'blue' },
          { text: { body: '# Notes\n\n<script>alert(1)</script>' } },
          { insight: { name: 'Broken', filters: { insight: 'TRENDS', events: [] } } },
        ],
      });
      const { access_token: token } = await turn(id, true);
      const page = await visit(`/shared/${token}`);
      expect(page.status).toBe(200);
      const html = await page.text();
      expect(html).toContain('<h1>Überblick &lt;1&gt;</h1>');
      expect(html).toContain('Last 7 days');
      expect(html).toContain('As of <time datetime="2024-03-10T12:00:00.000Z">10 March 2024');
      expect(html).toContain('<h2>Views &amp; more</h2>');
      expect(html).toContain('<h2>Notes</h2>');
      expect(html).not.toContain('<script');
      expect(html).toContain('&lt;script&gt;');
      expect(html).toContain(
        '<strong>This insight cannot be shown.</strong> Choose at least one event or action.',
      );
      expect(html).not.toMatch(/\b(?:src|style|on\w+)=/);
      expect(html).not.toContain('owner@backhaul.invalid');

      await turn(id, false);
      const gone = await visit(`/shared/${token}`);
      expect(gone.status).toBe(404);
      expect(await gone.text()).toContain('This dashboard is not shared');
      await turn(id, true);
      expect((await visit(`/shared/${token}/`)).status).toBe(200);
      await board.change(id, { deleted: true });
      expect((await visit(`/shared/${token}`)).status).toBe(404);
      await board.change(id, { deleted: false });
      expect((await visit(`/shared/${token}`)).status).toBe(200);
    });

    test('lets a browser load, run and keep nothing, and its styles are the ones that are allowed', async () => {
      const { id } = await board.make({ name: 'strict' });
      await board.change(id, { tiles: [pageviews('Views')] });
      const { access_token: token } = await turn(id, true);
      for (const path of [`/shared/${token}`, `/embedded/${token}`, '/shared/unknown']) {
        const page = await visit(path);
        const policy = page.headers.get('content-security-policy') ?? '';
        expect(policy).toContain("default-src 'none'");
        const [, styles = ''] = /<style>([\s\S]*)<\/style>/.exec(await page.text()) ?? [];
        const hash = createHash('sha256').update(styles).digest('base64');
        expect(policy).toContain(`style-src 'sha256-${hash}'`);
        expect(policy).toContain(
          path.startsWith('/embedded/') ? 'frame-ancestors *' : "frame-ancestors 'none'",
        );
        expect(Object.fromEntries(page.headers)).toMatchObject({
          'cache-control': 'no-store',
          'x-robots-tag': 'noindex, nofollow',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
          'content-type': expect.stringMatching(/^text\/html/),
        });
      }
    });

    test('is not to be had with a wrong token, and says nothing of what there is', async () => {
      const { id } = await board.make({});
      const { access_token: token } = await turn(id, true);
      const other = await visit(`/shared/${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`);
      const unknown = await visit('/shared/x');
      expect([other.status, unknown.status]).toEqual([404, 404]);
      expect(await other.text()).toBe(await unknown.text());
      expect((await board.api.post(`/shared/${token}/`, {})).status).toBe(405);
      expect(JSON.stringify(await db().query('select token_hash from dashboard_sharing'))).not.toContain(
        token,
      );
    });

    test('says that there is nothing when there are no tiles', async () => {
      const { id } = await board.make({});
      const { access_token: token } = await turn(id, true);
      const html = await (await visit(`/shared/${token}`)).text();
      expect(html).toContain('Untitled dashboard');
      expect(html).toContain('This dashboard has no tiles.');
    });

    test('is JSON for programs, without people and filters', async () => {
      const { id } = await board.make({
        name: 'for programs',
        tags: ['secret-tag'],
        filters: {
          date_from: '-7d',
          properties: [{ key: 'plan', value: 'secret-filter', type: 'event', operator: 'is_not' }],
        },
      });
      const entity = {
        id: '$pageview',
        type: 'events',
        order: 0,
        properties: [{ key: 'email', value: 'secret-entity', operator: 'is_not' }],
      };
      const filters = { insight: 'TRENDS', events: [entity] };
      await board.change(id, {
        tiles: [{ insight: { name: 'Views', filters } }, { text: { body: 'Words' } }],
      });
      const { access_token: token } = await turn(id, true);
      const response = await visit(`/shared/${token}.json`);
      expect(response.headers.get('cache-control')).toBe('no-store');
      const text = await response.text();
      expect(text).not.toMatch(/secret|example\.com|invalid|created_by|api_token/);
      expect(JSON.parse(text)).toEqual({
        as_of: '2024-03-10T12:00:00.000Z',
        dashboard: {
          id,
          name: 'for programs',
          description: '',
          is_shared: true,
          filters: { date_from: '-7d', date_to: null },
          effective_restriction_level: 37,
          effective_privilege_level: 21,
          tiles: [
            expect.objectContaining({
              is_cached: false,
              last_refresh: '2024-03-10T12:00:00.000Z',
              text: null,
              insight: expect.objectContaining({
                name: 'Views',
                filters: { insight: 'TRENDS', display: 'ActionsLineGraph' },
                result: [expect.objectContaining({ count: 1 })],
                effective_restriction_level: 37,
                effective_privilege_level: 21,
              }),
            }),
            expect.objectContaining({ insight: null, text: { body: 'Words' } }),
          ],
        },
      });
      expect((await visit(`/embedded/${token}.json`)).status).toBe(200);
      await turn(id, false);
      await expectError(visit(`/shared/${token}.json`), 404, { code: 'not_found', detail: 'Not found.' });
    });
  });
});
