import { describe, expect, test } from 'vitest';
import type { DashboardTemplate } from '../../../config/dashboards/dashboard-template.ts';
import { DASHBOARD_TEMPLATES } from '../../../config/dashboards/dashboard-templates.ts';
import { fitTemplate } from '../../../src/server/dashboards/fit-template.ts';

const DAY_MS = 86_400_000;
const last = Date.parse('2023-11-12T11:17:05Z');
const longAfter = Date.parse('2026-11-22T12:00:00Z');
const ALL = new Set(['$referring_domain', '$browser', '$current_url', '$device_type', '$geoip_country_code']);

function find(name: string): DashboardTemplate {
  const template = DASHBOARD_TEMPLATES.find(({ template_name: one }) => one === name);
  if (template === undefined) throw new Error(`no template ${name}`);
  return template;
}
const product = find('Product analytics');
const website = find('Website traffic');
const imported = find('Imported history');

const listDates = ({ tiles }: DashboardTemplate) =>
  tiles.map((tile) => tile.type === 'INSIGHT' && [tile.filters?.['date_from'], tile.filters?.['date_to']]);

describe('a template for a project', () => {
  test('without events, or with events of this week, stays as it is', () => {
    expect(fitTemplate(product, undefined, longAfter)).toBe(product);
    expect(fitTemplate(product, { last, timeZone: 'UTC', properties: new Set() }, last + 7 * DAY_MS)).toBe(
      product,
    );
    expect(fitTemplate(product, { last, timeZone: 'UTC', properties: ALL }, last + 7 * DAY_MS + 1)).not.toBe(
      product,
    );
  });

  test('whose history ended counts back from its last event', () => {
    expect(listDates(fitTemplate(product, { last, timeZone: 'UTC', properties: ALL }, longAfter))).toEqual([
      ['2023-10-13', '2023-11-12'],
      ['2023-08-14', '2023-11-12'],
      ['2023-11-05', '2023-11-12'],
      ['2023-10-13', '2023-11-12'],
      ['2023-10-29', '2023-11-12'],
      ['2023-11-05', '2023-11-12'],
    ]);
    const { dashboard_filters: dates, tiles } = fitTemplate(
      website,
      { last, timeZone: 'UTC', properties: ALL },
      longAfter,
    );
    expect(dates).toEqual({ date_from: '2023-10-13', date_to: '2023-11-12' });
    expect(tiles).toEqual(website.tiles);
  });

  test('counts by the days of its own calendar', () => {
    const late = { last: Date.parse('2023-11-12T23:30:00Z'), timeZone: 'Europe/Vienna', properties: ALL };
    expect(fitTemplate(website, late, longAfter).dashboard_filters).toEqual({
      date_from: '2023-10-14',
      date_to: '2023-11-13',
    });
  });

  test('keeps all of the time', () => {
    const fitted = fitTemplate(imported, { last, timeZone: 'UTC', properties: new Set(['$lib']) }, longAfter);
    expect(fitted).toEqual(imported);
  });

  test('leaves out tiles about properties that no recent event has, and closes the gaps', () => {
    const properties = new Set(['$current_url']);
    const { tiles } = fitTemplate(website, { last, timeZone: 'UTC', properties }, longAfter);
    expect(tiles.map((tile) => tile.type === 'INSIGHT' && tile.name)).toEqual([
      'Unique visitors',
      'Unique visitors by day',
      'Page views by day',
      'Most viewed pages',
    ]);
    expect(tiles.map(({ layouts }) => layouts?.['sm'])).toMatchObject([
      { x: 0, y: 0 },
      { x: 6, y: 0 },
      { x: 0, y: 5 },
      { x: 6, y: 5 },
    ]);
  });
});
