import { beforeAll, describe, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { did, NOW } from '../insights/lab.ts';

interface Person {
  readonly id: number | null;
  readonly uuid: string | null;
  readonly name: string;
  readonly distinct_ids: readonly string[];
  readonly value_at_data_point: number | null;
}
interface Answer {
  readonly results: readonly { readonly people: readonly Person[]; readonly count: number }[];
  readonly next: string | null;
  readonly initial: string;
  readonly total_count: number;
}

const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));

onEveryDatabase('the persons behind numbers', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(
      did('ann', 'view', '01-09 08:00', { $set: { email: 'Ann@example.com' } }),
      did('ann', 'view', '01-09 09:00'),
      did('ann', 'paid', '01-09 09:30'),
      did('bob', 'view', '01-09 10:00', { $set: { name: 'Bob' } }),
      did('visitor', 'view', '01-09 11:00'),
      did('bob', '$identify', '01-09 11:01', { $anon_distinct_id: 'visitor' }),
      // an id like that of a person, which is none
      did('1', 'view', '01-09 12:00', { $process_person_profile: false }),
      did('gone', 'view', '01-09 13:00'),
    );
    const { results } = await api.read<{ results: { id: number }[] }>('persons/?distinct_id=gone');
    await api.call('DELETE', `persons/${results[0]?.id}/`);
  });

  const views = `persons/trends/?events=${json([{ id: 'view', math: 'dau' }])}&entity_id=view&entity_type=events&date_from=2024-01-09&date_to=2024-01-09`;
  const list = async (path: string) => (await api.read<Answer>(path)).results[0]?.people ?? [];

  test('are everybody who is counted, those too who have no person', async () => {
    const people = await list(views);
    expect(people.map(({ name, value_at_data_point: value }) => [name, value])).toEqual([
      ['Bob', 2],
      ['Ann@example.com', 2],
      [expect.stringMatching(/^[0-9a-f-]{36}$/), 1],
      ['1', 1],
    ]);
    expect(people[0]).toEqual({
      type: 'person',
      id: expect.any(Number),
      uuid: expect.any(String),
      name: 'Bob',
      distinct_ids: ['bob', 'visitor'],
      properties: expect.objectContaining({ name: 'Bob' }),
      created_at: '2024-01-09T10:00:00.000Z',
      is_identified: true,
      matched_recordings: [],
      value_at_data_point: 2,
    });
    expect(people[3]).toMatchObject({ id: null, uuid: null, distinct_ids: ['1'], created_at: null });
    expect(people[2]).toMatchObject({ id: null, distinct_ids: [], properties: {} });
  });

  test('are those of the interval itself where the line is smoothed, and of all events', async () => {
    const { sampling, ...smoothed } = await api.read<Answer & { sampling?: object }>(
      `${views}&smoothing_intervals=7&sampling_factor=0.5`,
    );
    expect(sampling).toEqual({ asked: 0.5, used: 1, error: 0 });
    expect(smoothed.results).toEqual((await api.read<Answer>(views)).results);
  });

  test('come in pages that follow one another', async () => {
    const seen: string[] = [];
    let path: string | undefined = `${views}&limit=3`;
    while (path !== undefined) {
      const answer: Answer = await api.read<Answer>(path);
      expect(answer.total_count).toBe(4);
      expect(answer.results[0]?.count).toBe(answer.results[0]?.people.length);
      seen.push(...(answer.results[0]?.people ?? []).map(({ name }) => name));
      path = answer.next?.split(`/projects/${api.project.id}/`)[1];
    }
    expect(new Set(seen).size).toBe(4);
    expect(seen).toHaveLength(4);
    const first = await api.read<Answer>(`${views}&limit=3`);
    expect(first.next).toMatch(/limit=3&offset=3$/);
    expect(first.initial).toContain('persons/trends/?events=');
    expect(await api.read<Answer>(`${views}&offset=40`)).toMatchObject({
      next: null,
      total_count: 4,
      results: [{ count: 0, people: [] }],
    });
  });

  test('can be searched', async () => {
    const names = async (search: string) => (await list(`${views}&search=${search}`)).map(({ name }) => name);
    expect(await names('ann%40EX')).toEqual(['Ann@example.com']);
    expect(await names('isito')).toEqual(['Bob']);
    expect(await names('bob')).toEqual(['Bob']);
    expect(await names('nobody')).toEqual([]);
  });

  test('are a table, with all of them unless it has a limit', async () => {
    const rows = async (path: string) => (await (await api.get(path)).text()).trim().split('\r\n');
    const [header, ...lines] = await rows(`${views}&format=csv`);
    expect(header).toMatch(/^created_at,distinct_ids\.0,/);
    expect(lines).toHaveLength(4);
    expect(await rows(`${views}&format=csv&limit=2`)).toHaveLength(3);
    const retention = `persons/retention/?target_entity=${json({ id: 'view' })}&date_to=2024-01-09&total_intervals=1&format=csv`;
    expect((await rows(retention))[0]).toMatch(/^appearances\.0,.*person\.name/);
  });

  test('are asked for by POST with the filters in the body, which go before the query', async () => {
    const body = {
      events: [{ id: 'view' }, { id: 'paid', order: 1 }],
      date_from: '2024-01-09',
      funnel_step: 2,
    };
    const response = await api.call('POST', 'persons/funnel/?funnel_step=1&limit=1', body);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      results: [{ people: [{ name: 'Ann@example.com' }], count: 1 }],
      next: null,
    });
    const all = await api.call('POST', 'persons/funnel/', { ...body, funnel_step: 1, limit: 2 });
    expect(await all.json()).toMatchObject({ total_count: 4, next: expect.stringMatching(/offset=2$/) });
  });

  test('of a retention come with when they were there', async () => {
    const answer = await api.read<object>(
      `persons/retention/?target_entity=${json({ id: 'view' })}&returning_entity=${json({ id: 'paid' })}&period=Hour&date_to=2024-01-09T10:30:00&total_intervals=3`,
    );
    expect(answer).toMatchObject({
      result: [{ person: { name: 'Ann@example.com' }, appearances: [1, 1, 0] }],
      next: null,
      missing_persons: 0,
    });
  });

  test('of a retention may be those of one value of a property', async () => {
    await api.send(
      did('red', 'buy', '01-02 10:00', { colour: 'red' }),
      did('red', 'buy', '01-03 10:00', { colour: 'blue' }),
      did('blue', 'buy', '01-02 10:00', { colour: 'blue' }),
      did('none', 'buy', '01-02 10:00'),
    );
    const base = `persons/retention/?target_entity=${json({ id: 'buy' })}&date_to=2024-01-03&total_intervals=2`;
    const names = async (query: string) => {
      const { result } = await api.read<{ result: { person: Person; appearances: number[] }[] }>(
        `${base}&${query}`,
      );
      return result.map(({ person, appearances }) => [person.name, ...appearances]);
    };
    expect(await names('breakdown=colour&breakdown_values=["red"]')).toEqual([['red', 1, 1]]);
    expect(await names('breakdown=colour&breakdown_values=["blue"]')).toEqual([['blue', 1, 0]]);
    expect(await names('breakdown=colour&breakdown_values=[""]')).toEqual([['none', 1, 0]]);
    expect(await names('breakdown=colour&breakdown_values=["blue"]&selected_interval=1')).toEqual([
      ['red', 1],
    ]);
    expect(await names('breakdown_values=[1]')).toEqual([['red', 1]]);
    expect(await names('breakdown=colour')).toHaveLength(3);
  });

  const event = `events=${json([{ id: 'view' }])}`;
  const two = `events=${json([{ id: 'view' }, { id: 'paid' }])}`;
  test.each([
    ['lifecycle/', 'target_date', 'Must include specified date'],
    ['lifecycle/?target_date=-1d', 'lifecycle_type', 'Must include lifecycle type'],
    ['lifecycle/?target_date=-1d&lifecycle_type=old', 'lifecycle_type', /one of/],
    ['lifecycle/?target_date=-1d&lifecycle_type=new', 'events', /at least one event/],
    [`lifecycle/?target_date=soon&lifecycle_type=new&${event}`, 'target_date', /is no date/],
    [`lifecycle/?target_date=-1d&lifecycle_type=new&${event}&interval=year`, 'interval', /interval/],
    ['stickiness/?entity_id=view', 'stickiness_days', /how many intervals/],
    ['stickiness/?entity_id=view&stickiness_days=0', 'stickiness_days', /./],
    ['stickiness/?stickiness_days=1', 'entity_id', /An entity id and the entity type must be provided/],
    ['trends/', 'entity_id', /An entity id and the entity type must be provided/],
    ['trends/?entity_id=view&entity_type=actions', 'entity_id', /id of an action/],
    ['trends/?entity_id=7&entity_type=actions', 'entity_id', /no action 7/],
    ['trends/?entity_id=view&entity_math=guess', 'entity_math', /guess/],
    [`trends/?entity_id=view&entity_type=actions&entity_math=total&${event}`, 'entity_id', /id of an action/],
    ['trends/?entity_id=view&actions=[{"id":"x"}]', 'actions', /id of an action/],
    ['stickiness/?entity_id=view&stickiness_days=1&actions=[{"id":"x"}]', 'actions', /id of an action/],
    ['trends/?entity_id=view&date_from=never', 'date_from', /is no date/],
    ['trends/?entity_id=view&properties=no', 'properties', /./],
    ['trends/?entity_id=view&events=no', 'events', /./],
    ['trends/?entity_id=view&breakdown=a&breakdown_type=cohort', 'breakdown', /cohort/],
    [
      'trends/?entity_id=view&breakdown=424242&breakdown_type=cohort&breakdown_value=424242',
      'breakdown',
      /no cohort 424242/,
    ],
    [
      'trends/?entity_id=view&breakdown=7&breakdown_type=cohort&breakdown_value=8',
      'breakdown_value',
      /one of the cohorts/,
    ],
    ['trends/?entity_id=view&aggregation_group_type_index=0', 'aggregation_group_type_index', /groups/],
    ['retention/?period=Year', 'period', 'Period Year is unsupported.'],
    ['retention/?breakdown_values=["a"]', 'breakdown_values', /./],
    ['retention/?breakdown_values=[1,2]', 'breakdown_values', /./],
    ['retention/?selected_interval=x', 'selected_interval', /./],
    [`retention/?target_entity=${json({ id: 'a', type: 'actions' })}`, 'target_entity', /id of an action/],
    [`funnel/?${event}&funnel_step=1`, 'events', /two steps/],
    [`funnel/?${two}`, 'funnel_step', /missing/],
    [`funnel/?${two}&funnel_step=3`, 'funnel_step', /1 to 2/],
    [`funnel/?${two}&funnel_step=-1`, 'funnel_step', /-1 is none/],
    [`funnel/?${two}&funnel_custom_steps=[1,4]`, 'funnel_custom_steps', /no step 4/],
    [`funnel/?${two}&funnel_step=1&funnel_order_type=any`, 'funnel_order_type', /./],
    [`funnel/?${two}&funnel_viz_type=trends`, 'entrance_period_start', /must be provided/],
    [
      `funnel/?${two}&funnel_viz_type=trends&entrance_period_start=2024-01-09`,
      'drop_off',
      'Filter parameter drop_off must be provided and a bool for funnel trends persons!',
    ],
    [
      `funnel/?${two}&funnel_viz_type=trends&entrance_period_start=2024-01-09&drop_off=true&funnel_to_step=2`,
      'funnel_to_step',
      /0 to 1/,
    ],
    [`funnel/?${two}&funnel_viz_type=time_to_convert&funnel_time_from=x`, 'funnel_time_from', /./],
    [`funnel/correlation/?${two}`, 'funnel_correlation_person_entity', 'No entity for persons specified'],
    [
      `funnel/correlation/?${two}&funnel_correlation_type=properties`,
      'funnel_correlation_property_values',
      'Property Correlation expects atleast one Property to get persons for',
    ],
    [`funnel/correlation/?${two}&funnel_correlation_type=all`, 'funnel_correlation_type', /./],
    ['path/?include_event_types=["hogql"]', 'include_event_types', /page views/],
    [
      'path/?include_event_types=["custom_event"]&include_custom_events=["a"]',
      'include_custom_events',
      /either/,
    ],
    ['path/?start_point=a&end_point=b', 'end_point', /either/],
    ['path/?step_limit=1', 'step_limit', /./],
    ['path/?path_groupings=a', 'path_groupings', /./],
    [`funnel/?${two}&funnel_step=1&exclusions=[{"id":"a"}]`, 'exclusions', /./],
  ])('%s is refused, and %s is named', async (path, attr, detail) => {
    const response = await api.get(`persons/${path}`);
    const body = await response.json();
    expect(body).toEqual({
      type: 'validation_error',
      code: 'invalid_input',
      detail: typeof detail === 'string' ? detail : expect.stringMatching(detail),
      attr,
    });
    expect(response.status).toBe(400);
  });

  describe('of a correlation', () => {
    const steps = { events: [{ id: 'view' }, { id: 'paid', order: 1 }], date_from: '2024-01-09' };
    const ask = async (body: object) => {
      const response = await api.call('POST', 'persons/funnel/correlation/', { ...steps, ...body });
      const { results } = (await response.json()) as Answer;
      return results[0]?.people.map(({ name }) => name);
    };

    test('by a property are those of the funnel who have it', async () => {
      const properties = (key: string) => ({
        funnel_correlation_type: 'properties',
        funnel_correlation_property_values: [{ key, operator: 'is_set' }],
      });
      expect(await ask(properties('email'))).toEqual(['Ann@example.com']);
      expect(await ask({ ...properties('email'), funnel_correlation_person_converted: 'false' })).toEqual([]);
      expect(await ask({ ...properties('name'), funnel_correlation_person_converted: false })).toEqual([
        'Bob',
      ]);
    });

    test('have pages under names of their own', async () => {
      const body = {
        funnel_correlation_type: 'properties',
        funnel_correlation_property_values: [{ key: 'never', operator: 'is_not_set' }],
        funnel_correlation_person_limit: 1,
      };
      const response = await api.call('POST', 'persons/funnel/correlation/', { ...steps, ...body });
      expect(await response.json()).toMatchObject({
        total_count: 4,
        next: expect.stringMatching(/funnel_correlation_person_limit=1&funnel_correlation_person_offset=1$/),
      });
    });
  });

  describe('of a trend', () => {
    test('are those of a whole interval where its day is given twice', async () => {
      const week = 'persons/trends/?entity_id=view&interval=week&date_from=2024-01-09&date_to=2024-01-09';
      expect(await list(week)).toHaveLength(4);
      const hour = (at: string) =>
        list(`persons/trends/?entity_id=view&interval=hour&date_from=${at}&date_to=${at}`);
      expect(await hour('2024-01-09T08:00:00')).toHaveLength(1);
      expect(await hour('2024-01-09T10:00:00')).toHaveLength(1);
      expect(await hour('2024-01-09T07:00:00')).toHaveLength(0);
    });

    test('may be those of a cohort, or with any property', async () => {
      const filtered = (properties: unknown) => list(`${views}&properties=${json(properties)}`);
      const named = [{ key: 'name', value: 'Bob', type: 'person' }];
      expect(await filtered(named)).toHaveLength(1);
      const response = await api.call('POST', 'cohorts/', {
        name: 'Bobs',
        filters: { properties: { type: 'AND', values: named } },
      });
      const { id } = (await response.json()) as { id: number };
      expect(await filtered([{ key: 'id', value: id, type: 'cohort' }])).toHaveLength(1);
    });
  });
});
