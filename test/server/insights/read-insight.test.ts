import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/server/http/json.ts';
import { parseInsightFilters } from '../../../src/server/insights/parse/insight-filters.ts';
import { queryToFilters } from '../../../src/server/insights/parse/query-to-filters.ts';
import { readInsight } from '../../../src/server/insights/read-insight.ts';

const node = (source: JsonObject): JsonObject => ({ kind: 'InsightVizNode', source });
const ofQuery = (source: JsonObject) => readInsight({ filters: {}, query: node(source) });
const pageviews = { kind: 'EventsNode', event: '$pageview', name: '$pageview' };

describe('a query object', () => {
  it('says the same of trends as filters do', () => {
    const query = ofQuery({
      kind: 'TrendsQuery',
      series: [{ ...pageviews, math: 'dau', properties: [{ key: 'a', value: 'b', type: 'event' }] }],
      dateRange: { date_from: '-14d', date_to: null, explicitDate: true },
      interval: 'hour',
      properties: {
        type: 'AND',
        values: [{ type: 'OR', values: [{ key: 'c', value: 'd', type: 'person' }] }],
      },
      filterTestAccounts: true,
      breakdownFilter: { breakdown: '$browser', breakdown_type: 'event', breakdown_limit: 3 },
      trendsFilter: { display: 'ActionsBarValue', showLegend: true },
      compareFilter: { compare: true },
    });
    expect(query).toEqual(
      parseInsightFilters({
        insight: 'TRENDS',
        events: [
          {
            id: '$pageview',
            type: 'events',
            name: '$pageview',
            order: 0,
            math: 'dau',
            properties: [{ key: 'a', value: 'b', type: 'event' }],
          },
        ],
        date_from: '-14d',
        explicit_date: true,
        interval: 'hour',
        properties: {
          type: 'AND',
          values: [{ type: 'OR', values: [{ key: 'c', value: 'd', type: 'person' }] }],
        },
        breakdown: '$browser',
        breakdown_type: 'event',
        breakdown_limit: 3,
        display: 'ActionsBarValue',
        compare: true,
      }),
    );
  });

  it('says the same of funnels, in the names of each of its versions', () => {
    const series = [pageviews, { kind: 'EventsNode', event: 'paid' }];
    const expected = {
      order: 'strict',
      window: { count: 2, unit: 'hour' },
      breakdown: { key: '$os' },
    };
    const breakdownFilter = { breakdown: '$os', breakdown_type: 'event' };
    const newer = {
      funnelOrderType: 'strict',
      funnelWindowInterval: 2,
      funnelWindowIntervalUnit: 'hour',
      funnelVizType: 'steps',
    };
    const older = {
      funnel_order_type: 'strict',
      funnel_window_interval: 2,
      funnel_window_interval_unit: 'hour',
    };
    expect(ofQuery({ kind: 'FunnelsQuery', series, breakdownFilter, funnelsFilter: newer })).toMatchObject(
      expected,
    );
    expect(ofQuery({ kind: 'FunnelsQuery', series, breakdownFilter, funnelsFilter: older })).toMatchObject(
      expected,
    );
    const exclusions = [{ kind: 'EventsNode', event: 'x', funnelFromStep: 0, funnelToStep: 1 }];
    expect(ofQuery({ kind: 'FunnelsQuery', series, funnelsFilter: { exclusions } })).toMatchObject({
      exclusions: [{ event: 'x', from: 0, to: 1 }],
    });
  });

  it('says the same of retention, lifecycle, stickiness and paths', () => {
    const retentionFilter = {
      targetEntity: { id: 'a', type: 'events' },
      returningEntity: { id: 'b', type: 'events' },
      period: 'Month',
      totalIntervals: 4,
      retentionType: 'retention_first_time',
    };
    expect(ofQuery({ kind: 'RetentionQuery', retentionFilter })).toMatchObject({
      target: { event: 'a' },
      returning: { event: 'b' },
      period: 'month',
      totalIntervals: 4,
      firstTime: true,
    });
    expect(ofQuery({ kind: 'LifecycleQuery', series: [pageviews], interval: 'month' })).toMatchObject({
      insight: 'LIFECYCLE',
      interval: 'month',
    });
    expect(ofQuery({ kind: 'StickinessQuery', series: [pageviews] })).toMatchObject({
      insight: 'STICKINESS',
    });
    const pathsFilter = { includeEventTypes: ['$screen'], stepLimit: 3, pathGroupings: ['a*'], edgeLimit: 9 };
    expect(ofQuery({ kind: 'PathsQuery', pathsFilter })).toMatchObject({
      include: { screens: true },
      stepLimit: 3,
      edgeLimit: 9,
      groupings: ['a*'],
    });
  });

  it.each([
    [{ kind: 'DataTableNode' }, /"DataTableNode"/],
    [node({ kind: 'HogQLQuery', query: 'select 1' }), /"HogQLQuery"/],
    [node({ kind: 'TrendsQuery', series: [{ kind: 'ActionsNode', id: 'x' }] }), /id of an action/],
    [node({ kind: 'TrendsQuery', series: [{ kind: 'OtherNode' }] }), /"OtherNode"/],
    [node({ kind: 'TrendsQuery', series: [pageviews], trendsFilter: { formula: 'B' } }), /no series/],
    [node({ kind: 'TrendsQuery', series: [pageviews], trendsFilter: { formulas: ['A', 'B'] } }), /no series/],
    [
      node({ kind: 'TrendsQuery', series: [pageviews], trendsFilter: { formulaNodes: [{ formula: '(' }] } }),
      /ends too early/,
    ],
    [
      node({
        kind: 'StickinessQuery',
        series: [pageviews],
        stickinessFilter: { stickinessCriteria: { operator: 'gte', value: 2 } },
      }),
      /every interval/,
    ],
  ])('that cannot be had is told apart: %j', (query, message) => {
    expect(() => readInsight({ filters: {}, query })).toThrowError(message);
  });

  it('without a source is refused', () => {
    expect(() => queryToFilters({ kind: 'InsightVizNode' })).toThrowError('The query has no source.');
  });
});

describe('the filters of a dashboard', () => {
  const insight = {
    filters: {
      events: [{ id: 'a' }],
      date_from: '-7d',
      date_to: '-1d',
      properties: [{ key: 'own', value: '1' }],
    },
    query: null,
  };

  it('go before the dates of an insight, both ends of them', () => {
    expect(readInsight(insight, { date_from: '-30d' }).dates).toEqual({
      from: '-30d',
      to: undefined,
      explicit: false,
    });
    expect(readInsight(insight, { date_from: null, date_to: '' }).dates).toEqual({
      from: '-7d',
      to: '-1d',
      explicit: false,
    });
  });

  it('are added to the properties of an insight', () => {
    const { filter } = readInsight(insight, {
      properties: {
        type: 'OR',
        values: [
          { key: 'x', value: '2' },
          { key: 'y', value: '3' },
        ],
      },
    });
    expect(filter).toMatchObject({
      operator: 'and',
      members: [
        { operator: 'and', members: [{ key: 'own' }] },
        { operator: 'or', members: [{ key: 'x' }, { key: 'y' }] },
      ],
    });
    expect(readInsight(insight, {}).filter).toMatchObject({ members: [{ key: 'own' }] });
  });

  it('change the dates of a query, too', () => {
    const query = node({ kind: 'TrendsQuery', series: [pageviews], dateRange: { date_from: '-7d' } });
    expect(readInsight({ filters: {}, query }, { date_from: 'all' }).dates.from).toBe('all');
  });
});
