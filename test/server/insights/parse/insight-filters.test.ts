import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../../src/lib/json/parse-json.ts';
import { isJsonObject, type JsonObject } from '../../../../src/server/http/json.ts';
import { InsightError } from '../../../../src/server/insights/insight-error.ts';
import { parseInsightFilters } from '../../../../src/server/insights/parse/insight-filters.ts';
import { NO_FILTER } from '../../../../src/server/query/filter.ts';

const PAGEVIEW = { id: '$pageview', type: 'events', order: 0, name: 'Pageview' };

/** What parsing these filters fails with. */
function failure(filters: JsonObject): { reason: string; message: string } {
  try {
    parseInsightFilters(filters);
  } catch (error) {
    if (error instanceof InsightError) return { reason: error.reason, message: error.message };
    throw error;
  }
  throw new Error('the filters were read');
}

describe('the filters of trends', () => {
  it('are read with all they may say', () => {
    const query = parseInsightFilters({
      insight: 'TRENDS',
      events: [
        { ...PAGEVIEW, order: 1, math: 'dau', custom_name: 'Visitors' },
        { id: 'paid', type: 'events', order: 0, math: 'sum', math_property: 'amount' },
        { id: null, order: 2 },
      ],
      properties: [{ key: '$browser', value: 'Chrome', type: 'event' }],
      interval: 'week',
      date_from: '-30d',
      date_to: '2024-01-31',
      breakdown: '$os',
      breakdown_type: 'person',
      breakdown_limit: '5',
      display: 'ActionsPie',
      compare: 'true',
      filter_test_accounts: true,
    });
    expect(query).toMatchObject({
      insight: 'TRENDS',
      interval: 'week',
      dates: { from: '-30d', to: '2024-01-31', explicit: false },
      breakdown: { owner: 'person', key: '$os', limit: 5, hideOther: false },
      display: 'ActionsPie',
      compare: true,
      filter: { members: [{ kind: 'property', owner: 'event', key: '$browser', values: ['Chrome'] }] },
      series: [
        {
          event: 'paid',
          name: 'paid',
          customName: null,
          order: 0,
          measure: { math: 'sum', property: { owner: 'event', key: 'amount' } },
        },
        { event: '$pageview', name: 'Pageview', customName: 'Visitors', order: 1, measure: { math: 'dau' } },
        { event: null, name: 'All events', order: 2, measure: { math: 'total' } },
      ],
    });
  });

  it('have defaults for all but the events', () => {
    expect(parseInsightFilters({ events: [{ id: '$pageview' }] })).toEqual({
      insight: 'TRENDS',
      dates: { from: undefined, to: undefined, explicit: false },
      filter: NO_FILTER,
      formulas: [],
      smoothing: 1,
      series: [
        {
          event: '$pageview',
          name: '$pageview',
          customName: null,
          order: 0,
          filter: NO_FILTER,
          measure: { math: 'total' },
          action: {
            id: '$pageview',
            type: 'events',
            order: 0,
            name: '$pageview',
            custom_name: null,
            math: null,
            math_property: null,
            math_group_type_index: null,
            properties: [],
          },
        },
      ],
      interval: 'day',
      breakdown: undefined,
      display: 'ActionsLineGraph',
      compare: false,
    });
  });

  it('may be written as text, as in addresses', () => {
    const query = parseInsightFilters({ events: '[{"id":"a","order":"0"}]', actions: '[]', interval: '' });
    expect(query).toMatchObject({ interval: 'day', series: [{ event: 'a' }] });
  });

  it.each([
    [
      [7, '8', 'all'],
      [7, 8, 'all'],
    ],
    ['7', [7]],
    [7, [7]],
    ['[7,"all"]', [7, 'all']],
    [
      [0, 7, 7],
      ['all', 7],
    ],
  ])('may break down by cohorts %j', (breakdown, cohorts) => {
    const expected = { breakdown: { owner: 'cohort', cohorts, limit: cohorts.length } };
    const filters = { events: [PAGEVIEW], breakdown, breakdown_type: 'cohort', breakdown_limit: 1 };
    expect(parseInsightFilters(filters)).toMatchObject(expected);
    const listed = { events: [PAGEVIEW], breakdowns: [{ property: breakdown, type: 'cohort' }] };
    expect(parseInsightFilters(listed)).toMatchObject(expected);
  });

  it.each([['x'], [[7, -1]], [[2 ** 31]], [Array.from({ length: 51 }, (_, id) => id + 1)]])(
    'refuse cohorts that are none: %j',
    (breakdown) => {
      const result = failure({ events: [PAGEVIEW], breakdown, breakdown_type: 'cohort' });
      expect(result).toEqual({ reason: 'invalid', message: expect.stringMatching(/^breakdown: .*cohorts/) });
    },
  );

  it('may name one property in a list of breakdowns', () => {
    const events = [PAGEVIEW];
    const expected = { breakdown: { owner: 'event', key: 'a', limit: 25 } };
    expect(parseInsightFilters({ events, breakdowns: [{ property: 'a', type: 'event' }] })).toMatchObject(
      expected,
    );
    expect(parseInsightFilters({ events, breakdown: ['a'] })).toMatchObject(expected);
    expect(parseInsightFilters({ events, breakdowns: [], breakdown: 'a' })).toMatchObject(expected);
  });

  it('take the number of a person property', () => {
    const events = [
      { ...PAGEVIEW, math: 'p95', math_property: 'age', math_property_type: 'person_properties' },
    ];
    expect(parseInsightFilters({ events })).toMatchObject({
      series: [{ measure: { math: 'p95', property: { owner: 'person', key: 'age' } } }],
    });
  });

  it('are of events and actions, in their order', () => {
    const actions = [
      { id: '3', name: 'Sign-up', order: 0 },
      { id: 4, order: 2, math: 'dau' },
    ];
    expect(parseInsightFilters({ events: [{ id: 'a', order: 1 }], actions })).toMatchObject({
      series: [
        {
          event: null,
          saved: { actionId: 3, attr: 'actions' },
          name: 'Sign-up',
          action: { id: 3, type: 'actions' },
        },
        { event: 'a' },
        { event: null, saved: { actionId: 4, attr: 'actions' }, name: 'Action 4', measure: { math: 'dau' } },
      ],
    });
    expect(parseInsightFilters({ events: [{ id: 5, type: 'actions' }] })).toMatchObject({
      series: [{ event: null, saved: { actionId: 5, attr: 'events' } }],
    });
  });

  it.each([undefined, null, '', 'x', -1, 0, 1.5, 2 ** 31])('take no action of id %j', (id) => {
    expect(failure({ actions: [{ id }] })).toEqual({
      reason: 'invalid',
      message: expect.stringContaining('the id of an action is a whole number'),
    });
  });

  it('are as many as there are letters, together', () => {
    const half = (id: unknown, count: number) => Array.from({ length: count }, () => ({ id }));
    expect(() => parseInsightFilters({ events: half('a', 13), actions: half(1, 13) })).not.toThrow();
    expect(failure({ events: half('a', 13), actions: half(1, 14) })).toEqual({
      reason: 'invalid',
      message: 'Choose 26 events and actions at most.',
    });
  });

  it('count minutes by the hour and draw what is not known as lines', () => {
    expect(parseInsightFilters({ events: [PAGEVIEW], interval: 'minute', display: 'Spiral' })).toMatchObject({
      interval: 'hour',
      display: 'ActionsLineGraph',
    });
  });

  it.each([
    ['a table', { data_warehouse: [{ id: 'x' }] }, /data warehouse/],
    ['a breakdown by a group', { breakdown: 'plan', breakdown_type: 'group' }, /by group/],
    [
      'a property that sessions do not have',
      { breakdown: '$duration', breakdown_type: 'session' },
      /no property "\$duration"/,
    ],
    ['two breakdowns', { breakdowns: [{ property: 'a' }, { property: 'b' }] }, /several properties/],
    ['bins', { breakdown: 'a', breakdown_histogram_bin_count: 10 }, /bins/],
    ['groups', { aggregation_group_type_index: 0 }, /groups/i],
    ['groups as a measure', { events: [{ ...PAGEVIEW, math: 'unique_group' }] }, /"unique_group"/],
    ['sessions', { events: [{ ...PAGEVIEW, math: 'avg', math_property: '$session_duration' }] }, /sessions/],
    ['another period to compare with', { compare: true, compare_to: '-1m' }, /comparison/],
  ])('cannot ask for %s, and say so', (_, filters, message) => {
    const result = failure({ events: [PAGEVIEW], ...filters });
    expect(result).toEqual({ reason: 'unsupported', message: expect.stringMatching(message) });
  });

  it.each([
    ['no event', { events: [] }, /at least one event/],
    ['events that are no list', { events: 'x' }, /^events: /],
    ['an event that is no object', { events: ['x'] }, /^events\.0: /],
    ['an unknown interval', { interval: 'fortnight' }, /interval must be one of/],
    ['a sum of nothing', { events: [{ ...PAGEVIEW, math: 'sum' }] }, /math_property is missing/],
    ['a limit of none', { breakdown: 'a', breakdown_limit: 0 }, /^breakdown_limit: /],
    ['a date that is no text', { date_from: 7 }, /^date_from: /],
    [
      'a limit beyond all numbers',
      parseJson('{"breakdown":"a","breakdown_limit":1e400}'),
      /^breakdown_limit: /,
    ],
    [
      'a limit of twenty digits',
      parseJson('{"breakdown":"a","breakdown_limit":12345678901234567890}'),
      /^breakdown_limit: /,
    ],
    ['smoothing over nothing', { smoothing_intervals: 0 }, /^smoothing_intervals: /],
    ['smoothing over more than a thousand', { smoothing_intervals: 1001 }, /^smoothing_intervals: /],
    ['a share of none', { sampling_factor: 0 }, /^sampling_factor: /],
    ['a share above all', { sampling_factor: '1.001' }, /^sampling_factor: /],
    ['27 series', { events: Array.from({ length: 27 }, () => PAGEVIEW) }, /^events: /],
    ['a name beyond all measure', { events: [{ id: 'x'.repeat(1001) }] }, /^events\.0\.id: /],
    ['properties that are no filter', { properties: 'no json' }, /unparsable/],
  ])('are refused with %s', (_, filters, message) => {
    const result = failure({ events: [PAGEVIEW], ...(isJsonObject(filters) ? filters : {}) });
    expect(result).toEqual({ reason: 'invalid', message: expect.stringMatching(message) });
  });

  it.each([
    [0.001, 0.001],
    ['1', 1],
    ['', undefined],
    [null, undefined],
  ])('may ask for a share of %s', (given, samplingFactor) => {
    expect(parseInsightFilters({ events: [PAGEVIEW], sampling_factor: given }).samplingFactor).toBe(
      samplingFactor,
    );
  });

  it.each([
    [1000, 1000],
    ['7', 7],
    [null, 1],
  ])('may smooth over %s intervals', (given, smoothing) => {
    expect(parseInsightFilters({ events: [PAGEVIEW], smoothing_intervals: given })).toMatchObject({
      smoothing,
    });
  });

  it('may hold 26 series', () => {
    const query = parseInsightFilters({ events: Array.from({ length: 26 }, () => ({ id: 'a' })) });
    expect('series' in query && query.series.length).toBe(26);
  });
});

describe('the filters of other insights', () => {
  const steps = { insight: 'FUNNELS', events: [{ id: 'a' }, { id: 'b', custom_name: 'B' }, { id: 'c' }] };

  it('are read for funnels', () => {
    expect(parseInsightFilters(steps)).toMatchObject({
      steps: [{ event: 'a' }, { event: 'b', customName: 'B', order: 1 }, { event: 'c' }],
      order: 'ordered',
      window: { count: 14, unit: 'day' },
      exclusions: [],
      attribution: 'first_touch',
    });
    expect(
      parseInsightFilters({
        ...steps,
        funnel_order_type: 'ordered',
        funnel_viz_type: 'steps',
        funnel_window_interval: '90',
        funnel_window_interval_unit: 'minute',
        exclusions: [{ id: 'x', type: 'events', funnel_from_step: 0, funnel_to_step: 2 }],
        breakdown_attribution_type: 'last_touch',
      }),
    ).toMatchObject({
      window: { count: 90, unit: 'minute' },
      exclusions: [{ event: 'x', from: 0, to: 2 }],
      attribution: 'last_touch',
    });
    expect(parseInsightFilters({ ...steps, funnel_window_days: 3 })).toMatchObject({
      window: { count: 3, unit: 'day' },
    });
  });

  const exclusion = { id: 'x', funnel_from_step: 0, funnel_to_step: 1 };
  it.each([
    ['one step', { events: [PAGEVIEW] }, 'invalid', /two steps/],
    ['21 steps', { events: Array.from({ length: 21 }, () => PAGEVIEW) }, 'invalid', /20 steps/],
    ['another order', { funnel_order_type: 'random' }, 'invalid', /^funnel_order_type/],
    ['a window of nothing', { funnel_window_interval: 0 }, 'invalid', /^funnel_window_interval/],
    [
      'a window of ages',
      { funnel_window_interval: 101 * 12, funnel_window_interval_unit: 'month' },
      'invalid',
      /hundred/,
    ],
    ['a view of its own', { funnel_viz_type: 'flow' }, 'invalid', /^funnel_viz_type/],
    ['a step past the end', { funnel_viz_type: 'trends', funnel_to_step: 3 }, 'invalid', /from 0 to 2/],
    [
      'no step between',
      { funnel_viz_type: 'trends', funnel_from_step: 1, funnel_to_step: 1 },
      'invalid',
      /from 0 to 2/,
    ],
    [
      'times to convert by a property',
      { funnel_viz_type: 'time_to_convert', breakdown: 'plan' },
      'unsupported',
      /without a breakdown/,
    ],
    [
      'an exclusion backwards',
      { exclusions: [{ ...exclusion, funnel_from_step: 1 }] },
      'invalid',
      /later one/,
    ],
    [
      'an exclusion past the end',
      { exclusions: [{ ...exclusion, funnel_to_step: 3 }] },
      'invalid',
      /later one/,
    ],
    [
      'exclusions without an order',
      { exclusions: [exclusion], funnel_order_type: 'unordered' },
      'unsupported',
      /ordered steps only/,
    ],
    ['other attribution', { breakdown_attribution_type: 'all_events' }, 'unsupported', /first or the last/],
  ])('refuse a funnel with %s', (_, filters, reason, message) => {
    expect(failure({ ...steps, ...filters })).toEqual({ reason, message: expect.stringMatching(message) });
  });

  it('are read for retention, page views by the day unless they say otherwise', () => {
    expect(parseInsightFilters({ insight: 'RETENTION' })).toMatchObject({
      target: { event: '$pageview' },
      returning: { event: '$pageview' },
      period: 'day',
      totalIntervals: 11,
      firstTime: false,
    });
    expect(
      parseInsightFilters({
        insight: 'RETENTION',
        target_entity: '{"id":"signed up","type":"events"}',
        period: 'Week',
        total_intervals: 8,
        retention_type: 'retention_first_time',
      }),
    ).toMatchObject({
      target: { event: 'signed up' },
      returning: { event: 'signed up' },
      period: 'week',
      totalIntervals: 8,
      firstTime: true,
    });
  });

  it.each([
    ['a period of a year', { period: 'Year' }, 'invalid', 'Period Year is unsupported.'],
    ['no interval', { total_intervals: 0 }, 'invalid', /^total_intervals/],
    ['101 intervals', { total_intervals: 101 }, 'invalid', /^total_intervals/],
    ['another type', { retention_type: 'retention_rolling' }, 'unsupported', /retention_rolling/],
    ['a target that is no entity', { target_entity: 'x' }, 'invalid', /^target_entity/],
    ['two breakdowns', { breakdown: ['$os', 'plan'] }, 'unsupported', /several/],
  ])('refuse retention with %s', (_, filters, reason, message) => {
    expect(failure({ insight: 'RETENTION', ...filters })).toEqual({
      reason,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
  });

  it('are read for lifecycle and stickiness', () => {
    const events = [PAGEVIEW];
    expect(parseInsightFilters({ insight: 'LIFECYCLE', events, interval: 'week' })).toMatchObject({
      entity: { event: '$pageview' },
      interval: 'week',
    });
    expect(parseInsightFilters({ insight: 'STICKINESS', events })).toMatchObject({
      series: [{ event: '$pageview' }],
      interval: 'day',
    });
    expect(failure({ insight: 'LIFECYCLE', events: [PAGEVIEW, PAGEVIEW] }).reason).toBe('unsupported');
    expect(failure({ insight: 'STICKINESS', events, compare: true }).reason).toBe('unsupported');
  });

  it('are read for paths', () => {
    expect(parseInsightFilters({ insight: 'PATHS' })).toMatchObject({
      include: { pageviews: false, screens: false, custom: false, events: [] },
      exclude: [],
      startPoint: undefined,
      stepLimit: 5,
      edgeLimit: 50,
    });
    expect(
      parseInsightFilters({
        insight: 'PATHS',
        include_event_types: '["$pageview","custom_event"]',
        start_point: 'https://a.test/b/',
        step_limit: 4,
        edge_limit: 7,
        min_edge_weight: 2,
        exclude_events: ['x'],
        path_groupings: ['/a/*'],
      }),
    ).toMatchObject({
      include: { pageviews: true, screens: false, custom: true, events: [] },
      exclude: ['x'],
      startPoint: 'https://a.test/b',
      stepLimit: 4,
      edgeLimit: 7,
      minEdgeWeight: 2,
      groupings: ['/a/*'],
    });
    expect(parseInsightFilters({ insight: 'PATHS', start_point: '/' })).toMatchObject({ startPoint: '/' });
  });

  it.each([
    ['both ends', { start_point: '/a', end_point: '/b' }, 'unsupported'],
    ['the steps of a funnel', { funnel_paths: 'funnel_path_after_step' }, 'unsupported'],
    ['an expression', { include_event_types: ['hogql'] }, 'unsupported'],
    ['cleaning rules', { path_replacements: true }, 'unsupported'],
    [
      'custom events twice',
      { include_event_types: ['custom_event'], include_custom_events: ['a'] },
      'invalid',
    ],
    ['a single step', { step_limit: 1 }, 'invalid'],
    ['21 steps', { step_limit: 21 }, 'invalid'],
  ])('refuse paths with %s', (_, filters, reason) => {
    expect(failure({ insight: 'PATHS', ...filters }).reason).toBe(reason);
  });

  it('name an insight that is not there', () => {
    expect(failure({ insight: 'HEATMAP' })).toEqual({
      reason: 'unsupported',
      message: 'Insights of type "HEATMAP" are not supported.',
    });
  });
});
