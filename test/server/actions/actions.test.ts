import { beforeAll, expect, test } from 'vitest';
import type { ActionBody } from '../../../src/server/actions/schema.ts';
import type { ErrorEnvelope } from '../../../src/server/http/errors.ts';
import type { Paged } from '../../../src/server/http/paging.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { did, NOW } from '../insights/lab.ts';

const SIGN_UP = [
  { event: 'signed up' },
  { event: '$pageview', url: '/welcome', properties: [{ key: 'plan', value: 'pro', type: 'person' }] },
];

onEveryDatabase('actions', (db) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(
      did('ann', 'signed up', '01-09 08:00', { $set: { plan: 'free' } }),
      did('bob', '$pageview', '01-09 09:00', {
        $current_url: 'https://x.example/welcome',
        $set: { plan: 'pro' },
      }),
      did('cyd', '$pageview', '01-09 10:00', { $current_url: 'https://x.example/welcome' }),
      did('dan', '$pageview', '01-09 10:00', { $current_url: 'https://x.example/', $set: { plan: 'pro' } }),
      did('ann', 'paid', '01-09 11:00'),
      did('bob', 'paid', '01-09 11:00'),
    );
  });

  async function ask<T>(method: string, path: string, body?: unknown, status = 200): Promise<T> {
    const response = await api.call(method, path, body);
    const answer = await response.json();
    expect({ status: response.status, answer }).toMatchObject({ status });
    return answer as T;
  }
  const make = (body: object) => ask<ActionBody>('POST', 'actions/', body, 201);
  const refusal = async (method: string, path: string, body: unknown, status = 400) => {
    const { detail, attr } = await ask<ErrorEnvelope>(method, path, body, status);
    return { detail, attr };
  };
  const whoDid = async (list: string, query: object) => {
    const text = new URLSearchParams(
      Object.entries(query).map(([key, value]): [string, string] => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
      ]),
    );
    const { results } = await api.read<{ results: { people: { distinct_ids: string[] }[] }[] }>(
      `persons/${list}/?${text.toString()}`,
    );
    return results[0]?.people.map(({ distinct_ids: [id] }) => id).sort();
  };

  test('are made, listed, retrieved, changed, deleted and brought back', async () => {
    const made = await make({ name: 'Sign-up', description: 'New here', tags: ['Key '], steps: SIGN_UP });
    expect(made).toMatchObject({
      name: 'Sign-up',
      description: 'New here',
      tags: ['key'],
      steps: [
        { event: 'signed up', url: null, url_matching: 'contains', properties: [], selector: null },
        { event: '$pageview', url: '/welcome', properties: [{ key: 'plan', value: 'pro', type: 'person' }] },
      ],
      created_by: { email: expect.any(String) },
      deleted: false,
      is_action: true,
    });
    expect(await ask('GET', `actions/${made.id}/`)).toEqual(made);
    const { results, count } = await ask<Paged<ActionBody>>('GET', 'actions/?limit=1');
    expect([results, count]).toEqual([[made], 1]);
    const changed = await ask('PATCH', `actions/${made.id}/`, { name: 'Joined', steps: [{ event: 'paid' }] });
    expect(changed).toMatchObject({ name: 'Joined', description: 'New here', steps: [{ event: 'paid' }] });
    // What a client read it may send back as it is.
    expect(await ask('PATCH', `actions/${made.id}/`, changed)).toEqual(changed);
    expect(await ask('PATCH', `actions/${made.id}/`, { deleted: true })).toMatchObject({ deleted: true });
    await ask('GET', `actions/${made.id}/`, undefined, 404);
    await ask('PATCH', `actions/${made.id}/`, { name: 'x' }, 404);
    expect(await ask('GET', 'actions/')).toMatchObject({ count: 0, results: [] });
    expect(await ask('PATCH', `actions/${made.id}/`, { deleted: false })).toMatchObject({ deleted: false });
    await ask('DELETE', `actions/${made.id}/`, undefined, 405);
    const log = await db().query(
      `select activity from activity_log where scope = 'Action' and project_id = $1 order by id`,
      [api.project.id],
    );
    expect(log.map((row) => (row as { activity: string }).activity)).toEqual([
      ...['created', 'updated', 'updated', 'deleted', 'updated'],
    ]);
  });

  test('are of one project', async () => {
    const { id } = await make({ steps: SIGN_UP });
    const other = await createTestApi(db(), () => Date.parse(NOW), api.app);
    expect((await other.call('GET', `actions/${id}/`)).status).toBe(404);
    expect((await other.call('PATCH', `actions/${id}/`, { name: 'mine' })).status).toBe(404);
    const response = await other.call('GET', `persons/trends/?entity_type=actions&entity_id=${id}`);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { attr: 'entity_id', detail: expect.stringContaining(`There is no action ${id} in this project.`) },
    ]);
  });

  test.each([
    ['no steps', undefined, /list of steps|required/i],
    ['no list', { event: 'a' }, /list of steps/],
    ['an empty list', [], /1 to 20 steps/],
    ['many steps', Array.from({ length: 21 }, () => ({ event: 'a' })), /1 to 20 steps/],
    ['a step that is none', [17], /must be an object/],
    ['a name that is none', [{ event: 17 }], /event of a step is text/],
    ['a long name', [{ event: 'a'.repeat(401) }], /400 characters/],
    ['a long url', [{ url: 'a'.repeat(1001) }], /1000 characters/],
    ['another matching', [{ url: 'a', url_matching: 'sounds' }], /contains, regex, exact/],
    ['an element', [{ event: '$autocapture', selector: 'button' }], /elements of pages \(selector\)/],
    ['conditions that are none', [{ properties: [{ key: 'a' }] }], /value of a filter is missing/],
    [
      'a cohort that is none',
      [{ properties: [{ key: 'id', type: 'cohort', value: 424_242 }] }],
      /no cohort 424242/,
    ],
    ['too many', [{ properties: Array.from({ length: 201 }, () => ({ key: 'a', value: 1 })) }], /200/],
    [
      'too many together',
      Array.from({ length: 3 }, () => ({
        properties: Array.from({ length: 67 }, () => ({ key: 'a', value: 1 })),
      })),
      /200 conditions/,
    ],
    ['too much text', [{ properties: [{ key: 'a', value: 'x'.repeat(100_000) }] }], /100000 characters/],
    [
      'behaviour',
      [
        {
          properties: [
            { key: 'a', type: 'behavioral', value: 'performed_event', time_value: 1, time_interval: 'day' },
          ],
        },
      ],
      /behaviour of persons/,
    ],
  ])('take no steps of %s', async (_, steps, message) => {
    expect(await refusal('POST', 'actions/', { name: 'a', steps })).toEqual({
      attr: 'steps',
      detail: expect.stringMatching(message),
    });
  });

  test('are what a step, a series or a condition of people may be', async () => {
    const { id } = await make({ name: 'Sign-up', steps: SIGN_UP });
    expect(await whoDid('trends', { entity_type: 'actions', entity_id: String(id) })).toEqual(['ann', 'bob']);
    const funnel = { actions: [{ id, order: 0 }], events: [{ id: 'paid', order: 1 }], funnel_step: '2' };
    expect(await whoDid('funnel', funnel)).toEqual(['ann', 'bob']);
    const query = (own: object) => ({
      properties: {
        type: 'AND',
        values: [
          {
            type: 'behavioral',
            key: id,
            event_type: 'actions',
            time_value: 30,
            time_interval: 'day',
            ...own,
          },
        ],
      },
    });
    for (const [own, count] of [
      [{ value: 'performed_event' }, 2],
      [{ value: 'performed_event', negation: true }, 2],
      [{ value: 'performed_event_multiple', operator: 'gte', operator_value: 2 }, 0],
    ] as const) {
      expect(await ask('POST', 'cohorts/', { filters: query(own) }, 201)).toMatchObject({ count });
    }
  });

  test('that a cohort needs are missed in every question about it', async () => {
    const { id } = await make({ steps: SIGN_UP });
    const values = [
      ...[{ type: 'behavioral', value: 'performed_event', key: id, event_type: 'actions' }].map((one) => ({
        ...one,
        ...{ time_value: 30, time_interval: 'day' },
      })),
    ];
    const filters = { properties: { type: 'AND', values } };
    const cohort = await ask<{ id: number }>('POST', 'cohorts/', { filters }, 201);
    await ask('PATCH', `actions/${id}/`, { deleted: true });
    const missing = { detail: expect.stringContaining(`There is no action ${id} in this project.`) };
    const inCohort = encodeURIComponent(JSON.stringify([{ key: 'id', type: 'cohort', value: cohort.id }]));
    expect(await refusal('GET', `persons/?cohort=${cohort.id}`, undefined)).toMatchObject(missing);
    expect(
      await refusal('GET', `persons/trends/?entity_id=paid&properties=${inCohort}`, undefined),
    ).toMatchObject(missing);
    expect(await refusal('POST', 'cohorts/', { filters })).toMatchObject({ ...missing, attr: 'filters' });
  });

  test('with conditions on cohorts are no behaviour, which could be a circle', async () => {
    const pro = { properties: { type: 'AND', values: [{ key: 'plan', value: 'pro', type: 'person' }] } };
    const cohort = await ask<{ id: number }>('POST', 'cohorts/', { filters: pro }, 201);
    const properties = [{ key: 'id', type: 'cohort', value: cohort.id }];
    const { id } = await make({ steps: [{ event: 'paid', properties }] });
    expect(await whoDid('trends', { entity_type: 'actions', entity_id: String(id) })).toEqual(['bob']);
    const values = [
      {
        type: 'behavioral',
        value: 'performed_event',
        key: id,
        event_type: 'actions',
        time_value: 3,
        time_interval: 'day',
      },
    ];
    expect(await refusal('POST', 'cohorts/', { filters: { properties: { type: 'AND', values } } })).toEqual({
      attr: 'filters',
      detail: `Action ${id} has conditions on cohorts, so that it cannot be a behaviour: choose events.`,
    });
  });

  test('say which events of a timeline count, and which properties matter', async () => {
    const { id } = await make({ steps: SIGN_UP });
    const { results } = await api.read<{ results: { id: number }[] }>('persons/?distinct_id=bob');
    const asked = encodeURIComponent(JSON.stringify([{ id }]));
    expect(
      await api.read(`persons/${results[0]?.id}/properties_timeline/?date_from=all&actions=${asked}`),
    ).toMatchObject({ points: [{ relevant_event_count: 1 }], crucial_property_keys: ['plan'] });
  });
});
