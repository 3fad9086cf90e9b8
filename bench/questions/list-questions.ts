import { DAYS, FIRST_DAY } from './load-history.ts';

/** What questions are about besides events, by the ids that it was given. */
export interface SavedIds {
  /** Whoever ordered: events of two names, one of them on some pages. */
  readonly action: number;
  /** A quarter of the persons, by a property. */
  readonly cohort: number;
  /** Persons who searched in the last five years. */
  readonly doers: number;
}

/** Bodies of what is made for the questions. */
export const SAVED = {
  action: {
    name: 'Interest',
    steps: [
      { event: 'order placed' },
      { event: '$pageview', url: '/cart', url_matching: 'contains', properties: [] },
    ],
  },
  cohort: inCohortOf({ key: 'plan', value: 'pro', type: 'person' }),
  doers: inCohortOf({
    ...{ type: 'behavioral', key: 'searched', value: 'performed_event' },
    ...{ time_value: 5, time_interval: 'year' },
  }),
} as const;

function inCohortOf(condition: object): object {
  return { name: 'bench', filters: { properties: { type: 'AND', values: [condition] } } };
}

/** What is asked: an insight by its filters, or a page below the project. */
export interface BenchQuestion {
  readonly name: string;
  readonly filters?: Readonly<Record<string, unknown>>;
  readonly path?: string;
  readonly query?: Readonly<Record<string, unknown>>;
}

const dayAfter = (days: number): string =>
  new Date(Date.parse(FIRST_DAY) + days * 86_400_000).toISOString().slice(0, 10);

const ALL_TIME = { date_from: FIRST_DAY, date_to: dayAfter(DAYS - 1) };
const MONTH = { date_from: dayAfter(400), date_to: dayAfter(430) };

const entities = (...names: (string | null)[]) => names.map((id, order) => ({ id, type: 'events', order }));
const SHOP = entities('$pageview', 'item added', 'order placed');
const LETTERS = entities('searched', 'item viewed', 'checkout started');
const VIEWS = entities('item viewed');

const trend = (name: string, filters: object): BenchQuestion => ({
  name: `trend: ${name}`,
  filters: { insight: 'TRENDS', ...ALL_TIME, interval: 'week', ...filters },
});
const counted = (math: string, id: string | null = 'item viewed') => [{ ...entities(id)[0], math }];
const funnel = (name: string, filters: object): BenchQuestion => ({
  name: `funnel: ${name}`,
  filters: { insight: 'FUNNELS', ...ALL_TIME, events: SHOP, ...filters },
});
const list = (path: string, name: string, query: object): BenchQuestion => ({
  name: `persons/${path}/: ${name}`,
  path: `persons/${path}/`,
  query: { ...ALL_TIME, ...query },
});

const RETENTION = {
  target_entity: VIEWS[0],
  returning_entity: entities('order placed')[0],
  period: 'Week',
  total_intervals: 12,
  date_to: ALL_TIME.date_to,
};
const PATHS = { include_event_types: ['$pageview', 'custom_event'] };

/** What goes with converting. */
const correlation = (name: string, query: object): BenchQuestion => ({
  name: `insights/funnel/correlation/: ${name}`,
  path: 'insights/funnel/correlation/',
  query: { ...ALL_TIME, events: SHOP, ...query },
});

/** Every question that reads much, over two years unless it says otherwise. */
export const listQuestions = ({ action, cohort, doers }: SavedIds): readonly BenchQuestion[] => [
  trend('events of one name, by week', { events: counted('total') }),
  trend('all events, by day', { events: counted('total', null), interval: 'day' }),
  trend('persons of all events, by week', { events: counted('dau', null) }),
  trend('weekly active persons, one month', {
    events: counted('weekly_active', null),
    ...MONTH,
    interval: 'day',
  }),
  trend('monthly active persons, by week', { events: counted('monthly_active', null) }),
  trend('all events by a property', { events: counted('total', null), breakdown: '$browser' }),
  trend('persons of all events by a property of theirs', {
    events: counted('dau', null),
    breakdown: 'plan',
    breakdown_type: 'person',
  }),
  trend('median of a property', { events: [{ ...counted('median')[0], math_property: 'amount' }] }),
  trend('sessions', { events: counted('unique_session') }),
  trend('two events by a formula', {
    events: entities('item viewed', 'order placed'),
    formula: 'B / A * 100',
  }),
  trend('events of an action', { events: [], actions: [{ id: action }] }),
  trend('persons of an action, by month', {
    ...{ events: [], actions: [{ id: action, math: 'dau' }], interval: 'month' },
  }),
  trend('all events by the length of their session', {
    ...{ events: counted('total', null), breakdown: '$session_duration', breakdown_type: 'session' },
  }),
  trend('persons of all events by cohort', {
    ...{ events: counted('dau', null), breakdown: [cohort, 'all'], breakdown_type: 'cohort' },
  }),
  trend('all events of those who searched', {
    ...{ events: counted('total', null), properties: [{ key: 'id', type: 'cohort', value: doers }] },
  }),
  funnel('three steps', {}),
  funnel('three steps, one month', MONTH),
  funnel('three other steps, by a property', { events: LETTERS, breakdown: '$os' }),
  funnel('in any order', { funnel_order_type: 'unordered' }),
  funnel('strict', { funnel_order_type: 'strict' }),
  funnel('with an exclusion', {
    exclusions: [{ id: 'searched', funnel_from_step: 0, funnel_to_step: 2 }],
  }),
  funnel('over time, by week', { funnel_viz_type: 'trends', interval: 'week' }),
  funnel('times to convert', { funnel_viz_type: 'time_to_convert' }),
  funnel('with an action', { events: SHOP.slice(0, 2), actions: [{ id: action, order: 2 }] }),
  correlation('events', {}),
  correlation('properties of persons', {
    ...{ funnel_correlation_type: 'properties', funnel_correlation_names: ['$all'] },
  }),
  correlation('events with properties', {
    ...{
      funnel_correlation_type: 'event_with_properties',
      funnel_correlation_event_names: ['searched'],
    },
  }),
  { name: 'retention: by week', filters: { insight: 'RETENTION', ...RETENTION } },
  {
    name: 'retention: first time, by month',
    filters: { insight: 'RETENTION', ...RETENTION, period: 'Month', retention_type: 'retention_first_time' },
  },
  {
    name: 'retention: by week, by a property',
    filters: { insight: 'RETENTION', ...RETENTION, breakdown: '$os' },
  },
  {
    name: 'lifecycle: by week',
    filters: { insight: 'LIFECYCLE', ...ALL_TIME, interval: 'week', events: entities(null) },
  },
  {
    name: 'stickiness: by week',
    filters: { insight: 'STICKINESS', ...ALL_TIME, interval: 'week', events: VIEWS },
  },
  { name: 'paths: all events, one month', filters: { insight: 'PATHS', ...MONTH, ...PATHS } },
  { name: 'paths: all events', filters: { insight: 'PATHS', ...ALL_TIME, ...PATHS } },
  list('trends', 'of one week', {
    ...{ date_from: dayAfter(402), date_to: dayAfter(402), interval: 'week' },
    ...{ events: VIEWS, entity_id: 'item viewed', entity_type: 'events' },
  }),
  list('trends', 'of all time', {
    ...{ events: VIEWS, entity_id: 'item viewed', entity_type: 'events', display: 'BoldNumber' },
  }),
  list('funnel', 'who reached the last step', { events: SHOP, funnel_step: 3 }),
  list('funnel', 'who was lost before it', { events: SHOP, funnel_step: -3 }),
  list('trends', 'of an action, of all time', {
    ...{ actions: [{ id: action }], entity_id: action, entity_type: 'actions', display: 'BoldNumber' },
  }),
  list('trends', 'of a cohort', {
    ...{ events: VIEWS, entity_id: 'item viewed', entity_type: 'events', display: 'BoldNumber' },
    ...{ breakdown: [cohort, 'all'], breakdown_type: 'cohort', breakdown_value: String(cohort) },
  }),
  list('funnel', 'who was lost in one week', {
    ...{ events: SHOP, funnel_viz_type: 'trends', interval: 'week', drop_off: 'true' },
    entrance_period_start: dayAfter(400),
  }),
  list('funnel', 'who converted within an hour', {
    ...{ events: SHOP, funnel_viz_type: 'time_to_convert', funnel_time_from: 0, funnel_time_until: 3600 },
  }),
  // As many as the service puts into a table.
  list('funnel', '10,000 persons as a table', {
    ...{ events: SHOP, funnel_step: 1, format: 'csv', limit: 10_000 },
  }),
  list('funnel/correlation', 'who searched on the way', {
    ...{ events: SHOP, funnel_correlation_person_entity: { id: 'searched', type: 'events' } },
  }),
  list('retention', 'of the first week', { ...RETENTION, selected_interval: 0 }),
  list('retention', 'of the first month, for the first time', {
    ...{ ...RETENTION, period: 'Month', retention_type: 'retention_first_time', selected_interval: 0 },
  }),
  list('lifecycle', 'new in one week', {
    ...{ events: entities(null), interval: 'week', target_date: dayAfter(400), lifecycle_type: 'new' },
  }),
  list('lifecycle', 'dormant in one week', {
    ...{ events: entities(null), interval: 'week', target_date: dayAfter(400), lifecycle_type: 'dormant' },
  }),
  list('stickiness', 'in three weeks', {
    ...{
      events: VIEWS,
      interval: 'week',
      entity_id: 'item viewed',
      entity_type: 'events',
      stickiness_days: 3,
    },
  }),
  list('path', 'everybody, one month', { ...PATHS, ...MONTH }),
  list('path', 'who left there', { ...PATHS, path_dropoff_key: '2_searched' }),
  list('path', 'along one edge', { ...PATHS, path_start_key: '1_searched' }),
  { name: 'persons/:id/properties_timeline/', path: 'persons/1/properties_timeline/', query: ALL_TIME },
  { name: 'persons/: the first page', path: 'persons/' },
  { name: 'persons/: search', path: 'persons/', query: { search: 'person77777@' } },
  {
    name: 'persons/: by a property',
    path: 'persons/',
    query: { properties: [{ key: 'plan', value: 'pro', type: 'person' }] },
  },
  { name: 'persons/: of those who searched', path: 'persons/', query: { cohort: doers } },
  { name: 'persons/cohorts/', path: 'persons/cohorts/', query: { person_id: 1 } },
  { name: 'persons/values/', path: 'persons/values/', query: { key: 'plan' } },
  { name: 'events/: the newest 100', path: 'events/', query: { limit: 100 } },
  { name: 'events/: 100 of one name', path: 'events/', query: { limit: 100, event: 'order placed' } },
  { name: 'event_counts/', path: 'event_counts/' },
];
