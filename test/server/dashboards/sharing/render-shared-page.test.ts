import { expect, test } from 'vitest';
import { renderSharedPage } from '../../../../src/server/dashboards/sharing/render-shared-page.ts';
import type { StoredDashboard } from '../../../../src/server/dashboards/store.ts';
import type { TileView } from '../../../../src/server/dashboards/tiles/view-tiles.ts';
import { countTicks } from '../../../support/count-turns.ts';
import { storedInsight } from '../../insights/lab.ts';

const dashboard: StoredDashboard = {
  id: 1,
  projectId: 1,
  name: 'Large',
  description: '',
  pinned: false,
  deleted: false,
  filters: {},
  tags: [],
  restriction: 21,
  createdBy: null,
  createdAt: '2024-01-10T12:00:00.000Z',
  creationMode: 'default',
  useTemplate: '',
  useDashboard: null,
  isShared: true,
};

const view = (id: number): TileView => ({
  tile: {
    id,
    dashboardId: 1,
    insightId: null,
    text: {
      id,
      body: `Text ${id}.`,
      createdBy: null,
      lastModifiedBy: null,
      lastModifiedAt: dashboard.createdAt,
    },
    layouts: {},
    color: null,
    deleted: false,
  },
  insight: undefined,
  result: undefined,
});

test('others have a turn after every tile of a page', async () => {
  const views = Array.from({ length: 100 }, (_, index) => view(index));
  const { value: page, turns } = await countTicks(() =>
    renderSharedPage({ dashboard, views, asOf: dashboard.createdAt }, false),
  );
  expect(turns).toBeGreaterThanOrEqual(99);
  for (const { tile } of views) expect(page.html).toContain(`Text ${tile.id}.`);
});

test('names the zone that its days are counted in', async () => {
  const render = async (timeZone: string) =>
    (
      await renderSharedPage(
        {
          dashboard,
          views: [view(1), { ...view(2), insight: { ...storedInsight({}), timeZone } }],
          asOf: dashboard.createdAt,
        },
        false,
      )
    ).html;
  expect(await render('UTC')).toContain('Days and times are in UTC.');
  expect(await render('Europe/Vienna')).toContain('Days are those of the time zone Europe/Vienna.');
});
