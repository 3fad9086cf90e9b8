import type { DashboardTemplate, InsightTile } from './dashboard-template.ts';

/**
 * The templates at hand: `use_template` names one by its `template_name`, or by one of the two names that
 * the service has for its own. Another template is another element here; a test holds each to the schema.
 */
export const TEMPLATE_ALIASES: Readonly<Record<string, string>> = {
  DEFAULT_APP: 'Product analytics',
  WEBSITE_TRAFFIC: 'Website traffic',
};

const pageviews = { id: '$pageview', type: 'events', order: 0, name: '$pageview' } as const;
const everything = { id: null, type: 'events', order: 0, name: 'All events' } as const;

type Untyped = Omit<InsightTile, 'type' | 'layouts'>;

const CHART_ROWS = 5;
const NUMBER_ROWS = 2;

/** Tiles that follow one another, two in a row of twelve columns; the last has a row to itself where it is left over. */
export function inPairs(tiles: readonly Untyped[]): InsightTile[] {
  let top = 0;
  return tiles.map((tile, index) => {
    const isLeft = index % 2 === 0;
    const isAlone = isLeft && index === tiles.length - 1;
    const h = tile.filters?.['display'] === 'BoldNumber' ? NUMBER_ROWS : CHART_ROWS;
    const layouts = {
      sm: { x: isLeft ? 0 : 6, y: top, w: isAlone ? 12 : 6, h, minW: 3, minH: h },
      xs: { x: 0, y: index * CHART_ROWS, w: 1, h, minW: 1, minH: h },
    };
    if (!isLeft) top += h;
    return { ...tile, type: 'INSIGHT', layouts };
  });
}

const productAnalytics: DashboardTemplate = {
  template_name: 'Product analytics',
  dashboard_description: '',
  dashboard_filters: {},
  tags: [],
  tiles: inPairs([
    {
      name: 'Daily active users (DAUs)',
      description: 'How many different people used the product each day.',
      color: 'blue',
      filters: {
        insight: 'TRENDS',
        display: 'ActionsLineGraph',
        interval: 'day',
        date_from: '-30d',
        events: [{ ...pageviews, math: 'dau' }],
      },
    },
    {
      name: 'Weekly active users (WAUs)',
      description: 'How many different people used the product each week.',
      color: 'green',
      filters: {
        insight: 'TRENDS',
        display: 'ActionsLineGraph',
        interval: 'week',
        date_from: '-90d',
        events: [{ ...pageviews, math: 'dau' }],
      },
    },
    {
      name: 'Retention',
      description: 'How many come back in the weeks after the one in which they were first seen.',
      color: 'blue',
      filters: {
        insight: 'RETENTION',
        period: 'Week',
        total_intervals: 11,
        retention_type: 'retention_first_time',
        target_entity: pageviews,
        returning_entity: pageviews,
      },
    },
    {
      name: 'Growth accounting',
      description: 'Who is new, who stayed, who came back and who left, week by week.',
      color: 'purple',
      filters: {
        insight: 'LIFECYCLE',
        interval: 'week',
        date_from: '-30d',
        events: [{ ...pageviews, math: 'total' }],
      },
    },
    {
      name: 'Referring domain',
      description: 'The sites that people came from.',
      color: 'black',
      filters: {
        insight: 'TRENDS',
        display: 'ActionsBarValue',
        interval: 'day',
        date_from: '-14d',
        breakdown: '$referring_domain',
        breakdown_type: 'event',
        events: [{ ...pageviews, math: 'dau' }],
      },
    },
    {
      name: 'Pageview funnel, by browser',
      description: 'How many people go on to a second and a third page within a day.',
      color: 'green',
      filters: {
        insight: 'FUNNELS',
        funnel_viz_type: 'steps',
        funnel_order_type: 'ordered',
        funnel_window_interval: 1,
        funnel_window_interval_unit: 'day',
        interval: 'day',
        date_from: '-7d',
        breakdown: '$browser',
        breakdown_type: 'event',
        events: ['First', 'Second', 'Third'].map((word, order) => ({
          ...pageviews,
          order,
          custom_name: `${word} page view`,
        })),
      },
    },
  ]),
};

/** Page views that began at a search engine. */
const fromSearch = [
  {
    key: '$referring_domain',
    type: 'event',
    operator: 'regex',
    value: '(^|\\.)(google|bing|duckduckgo|ecosia|yahoo|baidu|yandex|qwant|startpage)\\.',
  },
];

const visitors = { ...pageviews, math: 'dau' } as const;
const trend = { insight: 'TRENDS', interval: 'day' } as const;

const websiteTraffic: DashboardTemplate = {
  template_name: 'Website traffic',
  dashboard_description: '',
  dashboard_filters: { date_from: '-30d' },
  tags: ['marketing'],
  tiles: inPairs([
    {
      name: 'Unique visitors',
      description: 'Different people who saw a page.',
      color: 'blue',
      filters: { ...trend, display: 'BoldNumber', events: [visitors] },
    },
    {
      name: 'Unique visitors from search',
      description: 'Different people who came from a search engine.',
      color: 'green',
      filters: { ...trend, display: 'BoldNumber', events: [visitors], properties: fromSearch },
    },
    {
      name: 'Unique visitors by day',
      color: 'blue',
      filters: { ...trend, display: 'ActionsLineGraph', events: [visitors] },
    },
    {
      name: 'Unique visitors from search by day',
      color: 'green',
      filters: { ...trend, display: 'ActionsLineGraph', events: [visitors], properties: fromSearch },
    },
    {
      name: 'Page views by day',
      color: 'purple',
      filters: { ...trend, display: 'ActionsBar', events: [{ ...pageviews, math: 'total' }] },
    },
    {
      name: 'Most viewed pages',
      description: 'Page views by address.',
      color: 'black',
      filters: {
        ...trend,
        display: 'ActionsBarValue',
        breakdown: '$current_url',
        breakdown_type: 'event',
        events: [{ ...pageviews, math: 'total' }],
      },
    },
    {
      name: 'Most viewed pages from search',
      description: 'Page views of people who came from a search engine, by address.',
      color: 'green',
      filters: {
        ...trend,
        display: 'ActionsBarValue',
        breakdown: '$current_url',
        breakdown_type: 'event',
        events: [{ ...pageviews, math: 'total' }],
        properties: fromSearch,
      },
    },
    {
      name: 'Visitors by device',
      color: 'purple',
      filters: {
        ...trend,
        display: 'ActionsPie',
        breakdown: '$device_type',
        breakdown_type: 'event',
        events: [visitors],
      },
    },
    {
      name: 'Visitors by country',
      color: 'blue',
      filters: {
        ...trend,
        display: 'WorldMap',
        breakdown: '$geoip_country_code',
        breakdown_type: 'event',
        events: [visitors],
      },
    },
  ]),
};

/** For looking at what a migration brought, whatever its events are called. */
const importedHistory: DashboardTemplate = {
  template_name: 'Imported history',
  dashboard_description: 'What is stored, from the first event to the last.',
  dashboard_filters: { date_from: 'all' },
  tags: ['migration'],
  tiles: inPairs([
    {
      name: 'Events',
      color: 'blue',
      filters: { ...trend, display: 'BoldNumber', events: [{ ...everything, math: 'total' }] },
    },
    {
      name: 'People',
      description: 'Different people who did anything.',
      color: 'green',
      filters: { ...trend, display: 'BoldNumber', events: [{ ...everything, math: 'dau' }] },
    },
    {
      name: 'Events over time',
      color: 'blue',
      filters: {
        ...trend,
        interval: 'auto',
        display: 'ActionsBar',
        events: [{ ...everything, math: 'total' }],
      },
    },
    {
      name: 'People over time',
      color: 'green',
      filters: {
        ...trend,
        interval: 'auto',
        display: 'ActionsLineGraph',
        events: [{ ...everything, math: 'dau' }],
      },
    },
    {
      name: 'Growth accounting',
      description: 'Who is new, who stayed, who came back and who left.',
      color: 'purple',
      filters: { insight: 'LIFECYCLE', interval: 'auto', events: [everything] },
    },
    {
      name: 'Events by library',
      description: 'Which client library the events came from, as they say themselves.',
      color: 'black',
      filters: {
        ...trend,
        display: 'ActionsBarValue',
        breakdown: '$lib',
        breakdown_type: 'event',
        events: [{ ...everything, math: 'total' }],
      },
    },
  ]),
};

export const DASHBOARD_TEMPLATES: readonly DashboardTemplate[] = [
  productAnalytics,
  websiteTraffic,
  importedHistory,
];
