import { beforeAll, expect, test } from 'vitest';
import { ACTOR_LISTS } from '../../../src/server/insights/lists/actor-lists.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { did, NOW } from '../insights/lab.ts';

interface Refusal {
  readonly type: string;
  readonly code: string;
  readonly detail: string;
  readonly attr: string | null;
}

const HUGE = '9'.repeat(400);
const DEEP = JSON.parse(`${'{"type":"AND","values":['.repeat(45)}${']}'.repeat(45)}`) as unknown;
const events = [{ id: 'a' }, { id: 'b', order: 1 }];

/** Of every list: filters that are right, in JSON. */
const LISTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  trends: { events, entity_id: 'a', entity_type: 'events', breakdown: 'plan' },
  lifecycle: { events: [{ id: 'a' }], target_date: '2024-01-09', lifecycle_type: 'new' },
  stickiness: { events, entity_id: 'a', entity_type: 'events', stickiness_days: 1 },
  retention: { target_entity: { id: 'a' }, selected_interval: 0 },
  path: { include_event_types: ['custom_event'] },
  funnel: { events, funnel_step: 1 },
  'funnel/correlation': { events, funnel_correlation_person_entity: { id: 'c' } },
};

/** Unreadable ids, one of no cohort, and one of a cohort among them. */
const COHORTS_THAT_ARE_NONE = ['x', '12x', -1, 2 ** 31, [], {}, null, 424_242, [424_242, 'x']];
/** The same of actions. */
const ACTIONS_THAT_ARE_NONE = ['x', '12x', -1, 0, 1.5, 2 ** 31, null, 424_242, '424242'];
const inCohort = (value: unknown) => [{ key: 'id', value, type: 'cohort' }];
const withCohort = (value: unknown) => [
  { id: 'a', properties: inCohort(value) },
  { id: 'b', order: 1 },
];

const behaviourOf = (key: unknown) => ({
  type: 'behavioral',
  value: 'performed_event',
  event_type: 'actions',
  ...{ key, time_value: 30, time_interval: 'day' },
});

/** What is wrong with one of them, and the parameter that the refusal names. */
const MISTAKES: readonly (readonly [list: string, attr: string, value: unknown])[] = [
  ...Object.keys(LISTS).flatMap((list): [string, string, unknown][] => [
    [list, 'date_from', 'sometime'],
    [list, 'date_from', HUGE],
    [list, 'date_from', '-99999999999d'],
    [list, 'date_to', '2024-13-45'],
    [list, 'explicit_date', 'perhaps'],
    [list, 'properties', 'no JSON'],
    [list, 'properties', 17],
    [list, 'properties', DEEP],
    [list, 'properties', [{ key: 'k', value: 'v', operator: 'resembles' }]],
    [list, 'properties', [{ key: 'k', value: 'v', type: 'planet' }]],
    ...COHORTS_THAT_ARE_NONE.map((value): [string, string, unknown] => [list, 'properties', inCohort(value)]),
    [list, 'aggregation_group_type_index', 0],
    [list, 'sampling_factor', 0],
    [list, 'sampling_factor', 1.5],
  ]),
  ...['trends', 'lifecycle', 'stickiness', 'funnel', 'funnel/correlation'].flatMap(
    (list): [string, string, unknown][] => [
      [list, 'events', 'no JSON'],
      [list, 'events', { id: 'a' }],
      [list, 'events', [17]],
      [list, 'events', Array.from({ length: 100 }, () => ({ id: 'a' }))],
      [list, 'actions', 'no JSON'],
      [list, 'actions', [17]],
      [list, 'actions', Array.from({ length: 26 }, () => ({ id: 1 }))],
      [list, 'events', [{ id: 'x', type: 'actions' }, { id: 'b' }]],
    ],
  ),
  ...['trends', 'lifecycle', 'stickiness'].flatMap((list): [string, string, unknown][] => [
    [list, 'interval', 'fortnight'],
    [list, 'interval', 7],
  ]),
  ['retention', 'properties', { type: 'OR', values: inCohort('x') }],
  ['funnel', 'properties', [{ type: 'AND', values: inCohort('x') }]],
  ['trends', 'entity_type', 'planets'],
  ['trends', 'entity_math', 'guess'],
  ['trends', 'target_date', 'sometime'],
  ['trends', 'breakdown_type', 'hogql'],
  ['trends', 'breakdown_limit', HUGE],
  ['trends', 'smoothing_intervals', 0],
  ['trends', 'breakdown_limit', 'few'],
  ['lifecycle', 'target_date', 'sometime'],
  ['lifecycle', 'target_date', undefined],
  ['lifecycle', 'lifecycle_type', 'tired'],
  ['lifecycle', 'lifecycle_type', undefined],
  ['stickiness', 'stickiness_days', 0],
  ['stickiness', 'stickiness_days', HUGE],
  ['stickiness', 'stickiness_days', 'three'],
  ['stickiness', 'stickiness_days', undefined],
  ['retention', 'period', 'Fortnight'],
  ['retention', 'total_intervals', HUGE],
  ['retention', 'total_intervals', 0],
  ['retention', 'selected_interval', -1],
  ['retention', 'selected_interval', 1.5],
  ['retention', 'retention_type', 'retention_sometimes'],
  ['retention', 'target_entity', 'no JSON'],
  ...ACTIONS_THAT_ARE_NONE.flatMap((id): [string, string, unknown][] => [
    ['trends', 'actions', [{ id }]],
    ['stickiness', 'actions', [{ id }]],
    ['lifecycle', 'actions', [{ id, order: 0 }]],
    ['funnel', 'actions', [{ id }]],
    ['funnel/correlation', 'actions', [{ id }]],
    ['funnel', 'exclusions', [{ id, type: 'actions', funnel_from_step: 0, funnel_to_step: 1 }]],
    ['retention', 'target_entity', { id, type: 'actions' }],
    ['retention', 'returning_entity', { id, type: 'actions' }],
    ['funnel/correlation', 'funnel_correlation_person_entity', { id, type: 'actions' }],
    ['trends', 'properties', [behaviourOf(id)]],
  ]),
  ['retention', 'returning_entity', 17],
  ['path', 'include_event_types', ['hogql']],
  ['path', 'include_event_types', 'no JSON'],
  ['path', 'include_custom_events', ['a']],
  ['path', 'step_limit', HUGE],
  ['path', 'step_limit', 1],
  ['path', 'path_groupings', [17]],
  ['path', 'exclude_events', { a: 1 }],
  ['funnel', 'funnel_step', undefined],
  ['funnel', 'funnel_step', 3],
  ['funnel', 'funnel_step', -1],
  ['funnel', 'funnel_step', HUGE],
  ['funnel', 'funnel_step', 'last'],
  ['funnel', 'funnel_custom_steps', [3]],
  ['funnel', 'funnel_custom_steps', 'all'],
  ['funnel', 'funnel_order_type', 'sideways'],
  ['funnel', 'funnel_viz_type', 'flow'],
  ['funnel', 'funnel_window_interval', HUGE],
  ['funnel', 'funnel_window_interval', 0],
  ['funnel', 'funnel_window_interval_unit', 'fortnight'],
  ['funnel', 'exclusions', [{ id: 'c', funnel_from_step: 1, funnel_to_step: 0 }]],
  ['funnel', 'exclusions', [{ id: 'c' }]],
  ['funnel', 'breakdown_attribution_type', 'all_events'],
  ['funnel/correlation', 'funnel_correlation_type', 'guess'],
  ['funnel/correlation', 'funnel_correlation_person_converted', 'perhaps'],
  ['funnel/correlation', 'funnel_correlation_person_entity', undefined],
  ['funnel/correlation', 'funnel_correlation_person_entity', 'no JSON'],
];

onEveryDatabase('a bad parameter', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(did('ann', 'a', '01-09 08:00'));
  });

  const ask = (path: string, method: 'get' | 'post', filters: object) => {
    if (method === 'post') return api.call('POST', path, filters);
    const query = Object.entries(filters)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]): [string, string] => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]);
    return api.call('GET', `${path}?${new URLSearchParams(query).toString()}`);
  };

  /** What a refusal says that is none, or not the one that is expected; undefined otherwise. */
  async function findFault(response: Response, attr: string): Promise<string | undefined> {
    const text = await response.text();
    const said = (response.status === 400 ? JSON.parse(text) : {}) as Partial<Refusal>;
    const isRight = said.attr === attr && said.type === 'validation_error';
    return isRight ? undefined : `${response.status} ${text.slice(0, 150)}`;
  }

  const describeCall = (method: string, path: string, attr: string, value: unknown) =>
    `${method} ${path} ${attr}=${JSON.stringify(value)?.slice(0, 40)}`;

  test.each(['get', 'post'] as const)('is refused by its name (%s)', async (method) => {
    const lists = ACTOR_LISTS.filter(({ methods }) => methods.includes(method)).map(({ path }) => path);
    const wrong: string[] = [];
    for (const list of lists) {
      expect((await ask(`persons/${list}/`, method, LISTS[list] ?? {})).status).toBe(200);
    }
    for (const [list, attr, value] of MISTAKES.filter(([name]) => lists.includes(name))) {
      const response = await ask(`persons/${list}/`, method, { ...LISTS[list], [attr]: value });
      const fault = await findFault(response, attr);
      if (fault !== undefined) wrong.push(`${describeCall(method, list, attr, value)}: ${fault}`);
    }
    expect(wrong).toEqual([]);
  });

  test.each(['get', 'post'] as const)('is refused of a correlation (%s)', async (method) => {
    const path = 'insights/funnel/correlation/';
    expect((await ask(path, method, { events })).status).toBe(200);
    for (const value of COHORTS_THAT_ARE_NONE) {
      const response = await ask(path, method, { events, properties: inCohort(value) });
      expect(await findFault(response, 'properties')).toBeUndefined();
    }
    for (const id of ACTIONS_THAT_ARE_NONE) {
      const response = await ask(path, method, { events, actions: [{ id, order: 2 }] });
      expect(await findFault(response, 'actions')).toBeUndefined();
    }
  });

  test('is refused of a timeline', async () => {
    const { results } = await api.read<{ results: { id: number }[] }>('persons/?distinct_id=ann');
    const path = `persons/${results[0]?.id}/properties_timeline/`;
    for (const id of ACTIONS_THAT_ARE_NONE) {
      const response = await ask(path, 'get', { actions: [{ id }] });
      expect(await findFault(response, 'actions')).toBeUndefined();
    }
  });

  test('is said of an event whose own filter it is', async () => {
    for (const method of ['get', 'post'] as const) {
      for (const value of COHORTS_THAT_ARE_NONE) {
        const response = await ask('persons/funnel/', method, { events: withCohort(value), funnel_step: 1 });
        expect(await findFault(response.clone(), 'properties')).toBeUndefined();
        if (value === 424_242) {
          expect(((await response.json()) as Refusal).detail).toBe(
            'properties of "a": there is no cohort 424242 in this project. ' +
              'GET /api/projects/:project_id/cohorts/ lists the cohorts of the project.',
          );
        }
      }
    }
  });

  test('is refused where an insight or a dashboard is written with it', async () => {
    const saved = (await (await api.call('POST', 'insights/', { filters: {} })).json()) as { id: number };
    const board = (await (await api.call('POST', 'dashboards/', {})).json()) as { id: number };
    const queryOf = (value: unknown) => ({
      kind: 'TrendsQuery',
      series: [{ kind: 'EventsNode', properties: inCohort(value) }],
    });
    const queryOfAction = (id: unknown) => ({
      kind: 'TrendsQuery',
      series: [{ kind: 'ActionsNode', id }],
    });
    for (const id of ACTIONS_THAT_ARE_NONE) {
      const target = { insight: 'RETENTION', target_entity: { id, type: 'actions' } };
      const calls: [string, string, unknown, string][] = [
        ['POST', 'insights/', { filters: { actions: [{ id }] } }, 'filters'],
        ['POST', 'insights/', { filters: target }, 'filters'],
        ['POST', 'insights/', { filters: { properties: [behaviourOf(id)] } }, 'filters'],
        ['PATCH', `insights/${saved.id}/`, { query: queryOfAction(id) }, 'query'],
        [
          'PATCH',
          `dashboards/${board.id}/`,
          { tiles: [{ insight: { name: 'a', query: queryOfAction(id) } }] },
          'tiles__0__insight',
        ],
      ];
      for (const [method, path, body, attr] of calls) {
        const fault = await findFault(await api.call(method, path, body), attr);
        expect(fault && `${describeCall(method, path, attr, id)}: ${fault}`).toBeUndefined();
      }
    }
    for (const value of COHORTS_THAT_ARE_NONE) {
      const calls: [string, string, unknown, string][] = [
        ['POST', 'insights/', { filters: { properties: inCohort(value) } }, 'filters'],
        ['POST', 'insights/', { filters: { events: withCohort(value) } }, 'filters'],
        ['PATCH', `insights/${saved.id}/`, { query: queryOf(value) }, 'query'],
        ['PATCH', `dashboards/${board.id}/`, { filters: { properties: inCohort(value) } }, 'filters'],
        [
          'PATCH',
          `dashboards/${board.id}/`,
          { tiles: [{ insight: { name: 'a', query: queryOf(value) } }] },
          'tiles__0__insight',
        ],
      ];
      for (const [method, path, body, attr] of calls) {
        const fault = await findFault(await api.call(method, path, body), attr);
        expect(fault && `${describeCall(method, path, attr, value)}: ${fault}`).toBeUndefined();
      }
    }
  });

  test('is what a tile shows whose action is deleted later', async () => {
    const action = (await (
      await api.call('POST', 'actions/', { name: 'a', steps: [{ event: 'a' }] })
    ).json()) as { id: number };
    const filters = { actions: [{ id: action.id }] };
    const saved = (await (await api.call('POST', 'insights/', { filters })).json()) as { id: number };
    expect(await api.read(`insights/${saved.id}/`)).toMatchObject({ result: expect.any(Array) });
    await api.call('PATCH', `actions/${action.id}/`, { deleted: true });
    expect(await api.read(`insights/${saved.id}/?refresh=true`)).toMatchObject({
      result: null,
      error: { type: 'invalid', message: expect.stringContaining(`no action ${action.id} in this project`) },
    });
    const list = await ask('persons/trends/', 'get', {
      ...filters,
      entity_id: action.id,
      entity_type: 'actions',
    });
    expect(await findFault(list, 'actions')).toBeUndefined();
  });

  test('is what a tile shows whose cohort is deleted later', async () => {
    const definition = { properties: { type: 'AND', values: [{ key: 'a', value: 1, type: 'person' }] } };
    const cohort = (await (
      await api.call('POST', 'cohorts/', { name: 'c', filters: definition })
    ).json()) as { id: number };
    const filters = { events, properties: inCohort(cohort.id) };
    const saved = (await (await api.call('POST', 'insights/', { filters })).json()) as { id: number };
    expect(await api.read(`insights/${saved.id}/`)).toMatchObject({ result: expect.any(Array) });
    await api.call('PATCH', `cohorts/${cohort.id}/`, { deleted: true });
    expect(await api.read(`insights/${saved.id}/?refresh=true`)).toMatchObject({
      result: null,
      error: {
        type: 'invalid',
        message: expect.stringContaining(`there is no cohort ${cohort.id} in this project`),
      },
    });
  });
});
