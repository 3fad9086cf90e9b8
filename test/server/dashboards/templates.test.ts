import { beforeAll, describe, expect, test } from 'vitest';
import { dashboardTemplate, templateTile } from '../../../config/dashboards/dashboard-template.ts';
import { DASHBOARD_TEMPLATES, TEMPLATE_ALIASES } from '../../../config/dashboards/dashboard-templates.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { type BoardApi, createBoardApi, type Dashboard, expectError, pageviews } from './board-api.ts';

describe('the templates at hand', () => {
  test.each(DASHBOARD_TEMPLATES.map((template) => [template.template_name, template] as const))(
    '%s is one that clients could send',
    (_, template) => {
      expect(dashboardTemplate.safeParse(template).error).toBeUndefined();
      for (const tile of template.tiles) expect(templateTile.safeParse(tile).error).toBeUndefined();
    },
  );

  test('are named once, and so are those that the service names', () => {
    const names = DASHBOARD_TEMPLATES.map(({ template_name: name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of Object.values(TEMPLATE_ALIASES)) expect(names).toContain(name);
  });
});

onEveryDatabase('dashboards from templates', (db) => {
  let board: BoardApi;
  beforeAll(async () => {
    board = await createBoardApi(db());
  });

  test.each(['DEFAULT_APP', 'Product analytics'])('%s gives six tiles', async (key) => {
    const made = await board.make({ use_template: key });
    expect(made).toMatchObject({
      name: 'Product analytics',
      creation_mode: 'template',
      use_template: key,
      created_by: { email: 'owner@backhaul.invalid' },
    });
    const kinds = ['TRENDS', 'TRENDS', 'RETENTION', 'LIFECYCLE', 'TRENDS', 'FUNNELS'];
    expect(made.tiles).toMatchObject(kinds.map((insight) => ({ insight: { filters: { insight } } })));
    expect(made.tiles[0]).toMatchObject({
      color: 'blue',
      layouts: { sm: { x: 0, y: 0, w: 6, h: 5 } },
      insight: { is_sample: true, created_by: null, filters: { filter_test_accounts: true } },
    });
  });

  test('WEBSITE_TRAFFIC brings dates and a tag', async () => {
    const made = await board.make({ use_template: 'WEBSITE_TRAFFIC', tags: ['mine'] });
    expect(made).toMatchObject({ filters: { date_from: '-30d' }, tags: ['marketing', 'mine'] });
    expect(made.tiles).toHaveLength(9);
  });

  test('what the request says goes before what the template says', async () => {
    const body = { name: 'Ours', description: 'own', filters: { date_from: '-7d' } };
    expect(await board.make({ ...body, use_template: 'WEBSITE_TRAFFIC' })).toMatchObject(body);
    expect(await board.make({ name: '', use_template: 'WEBSITE_TRAFFIC' })).toMatchObject({
      name: 'Website traffic',
    });
  });

  test('every insight of every template can be computed', async () => {
    for (const { template_name: name } of DASHBOARD_TEMPLATES) {
      const { id } = await board.make({ use_template: name });
      const { tiles } = await board.get(`${id}/`);
      expect(tiles.length).toBeGreaterThan(0);
      for (const tile of tiles) expect(tile.error).toBeUndefined();
    }
  });

  describe('in the request', () => {
    const template = {
      template_name: 'Sent',
      dashboard_description: 'From a file',
      dashboard_filters: { date_from: '-14d' },
      tags: ['From File'],
      tiles: [
        {
          type: 'INSIGHT',
          name: 'Views',
          filters: pageviews('x').insight.filters,
          layouts: {},
          color: 'blue',
        },
        { type: 'INSIGHT', name: 'Newer', filters: { events: [] }, query: { kind: 'InsightVizNode' } },
        { type: 'TEXT', body: 'Words', layouts: { sm: { x: 1 } }, color: null },
        { type: 'BUTTON', label: 'left out' },
      ],
    };
    const create = (body: unknown) => board.ask('POST', 'create_from_template_json/', body);

    test('gives a dashboard, with status 200', async () => {
      const response = await create({ template });
      expect(response.status).toBe(200);
      const made = (await response.json()) as Dashboard;
      expect(made).toMatchObject({
        name: 'Sent',
        description: 'From a file',
        filters: { date_from: '-14d' },
        tags: ['from file'],
        creation_mode: 'default',
        use_template: '',
      });
      expect(made.tiles).toMatchObject([
        {
          color: 'blue',
          insight: { name: 'Views', is_sample: true, filters: { filter_test_accounts: true } },
        },
        { insight: { name: 'Newer', filters: {}, query: { kind: 'InsightVizNode' } } },
        { layouts: { sm: { x: 1 } }, text: { body: 'Words', created_by: null } },
      ]);
    });

    const { template_name: _, ...unnamed } = template;
    test.each([
      [unnamed, "'template_name' is a required property"],
      [{ ...template, template_name: 5 }, "5 is not of type 'string'"],
      [{ ...template, dashboard_filters: [] }, "[] is not of type 'object'"],
      [{ ...template, tiles: [] }, '[] is too short'],
      [{ ...template, tiles: 'x' }, `"x" is not of type 'array'`],
      [{ ...template, tiles: [5] }, "5 is not of type 'object'"],
      [{ ...template, tiles: [{ type: 'TEXT' }] }, "'body' is a required property"],
      [{ ...template, tiles: [{ type: 'INSIGHT' }] }, "'name' is a required property"],
      [{ ...template, variables: [{ id: 'a' }] }, "'name' is a required property"],
      [{ ...template, tiles: Array(101).fill(template.tiles[2]) }, /is too long$/],
      [[], "[] is not of type 'object'"],
    ])('refuses %j', async (wrong, detail) => {
      await expectError(create({ template: wrong }), 400, {
        type: 'validation_error',
        code: 'invalid_input',
        attr: null,
        detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
      });
    });

    test('takes variables of the service’s form, and needs a template', async () => {
      const variable = { id: 'A', name: 'a', type: 'event', default: {}, description: '', required: true };
      expect((await create({ template: { ...template, variables: [variable] } })).status).toBe(200);
      expect((await create({ template: { ...template, variables: null } })).status).toBe(200);
      await expectError(create({}), 400, { code: 'required', attr: 'template' });
    });
  });
});

onEveryDatabase('dashboards from dashboards', (db) => {
  let board: BoardApi;
  let source: Dashboard;
  beforeAll(async () => {
    board = await createBoardApi(db());
    const { id } = await board.make({ name: 'source', filters: { date_from: '-7d' }, tags: ['a'] });
    const layouts = { sm: { x: 3 } };
    await board.change(id, {
      tiles: [
        { ...pageviews('Views'), layouts, color: 'green' },
        { insight: { filters: { events: [] } } },
        { text: { body: 'Words' } },
        { text: { body: 'Gone' } },
      ],
    });
    const gone = (await board.get(`${id}/`)).tiles[3]?.id;
    source = await board.change(id, { tiles: [{ id: gone, deleted: true }] });
  });

  test('show the same insights and texts', async () => {
    const copy = await board.make({ name: 'copy', use_dashboard: source.id });
    expect(copy).toMatchObject({
      creation_mode: 'duplicate',
      use_dashboard: source.id,
      filters: {},
      tags: [],
    });
    expect(copy.tiles).toMatchObject(
      source.tiles.map(({ layouts, color, insight, text }) => ({
        layouts,
        color,
        insight: insight && { id: insight.id },
        text: text && { id: text.id },
      })),
    );
  });

  test('or copies of them', async () => {
    const copy = await board.make({ use_dashboard: source.id, duplicate_tiles: true });
    expect(copy.tiles.map(({ insight }) => insight?.['name'])).toEqual(['Views (Copy)', null, undefined]);
    const ids = (tiles: Dashboard['tiles']) => tiles.map(({ insight, text }) => insight?.id ?? text?.id);
    for (const id of ids(copy.tiles)) expect(ids(source.tiles)).not.toContain(id);
    expect(copy.tiles[0]).toMatchObject({ layouts: { sm: { x: 3 } }, color: 'green' });
    expect(copy.tiles[2]?.text).toMatchObject({ body: 'Words' });
  });

  test('give copies of texts to those who may not edit them in their place', async () => {
    await board.change(source.id, { restriction_level: 37 });
    const ada = await board.invite('member');
    const response = await ada.ask('POST', '', { use_dashboard: source.id });
    const copy = (await response.json()) as Dashboard;
    expect(copy.tiles[0]?.insight?.id).toBe(source.tiles[0]?.insight?.id);
    expect(copy.tiles[2]?.text?.id).not.toBe(source.tiles[2]?.text?.id);
    expect(copy.tiles[2]?.text?.body).toBe('Words');
  });

  test('cannot be made of a deleted one', async () => {
    const { id } = await board.make({});
    await board.change(id, { deleted: true });
    await expectError(board.ask('POST', '', { use_dashboard: id }), 400, {
      attr: 'use_dashboard',
      detail: 'Invalid value provided',
    });
  });
});
