import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { did, NOW } from './lab.ts';

const HUGE = '9'.repeat(400);
const deep = (levels: number): unknown => (levels === 0 ? [] : { type: 'AND', values: [deep(levels - 1)] });
const is = (operator: string, value: unknown) => [{ key: 'k', operator, value }];

/** What no parameter of its kind may be. */
const WRONG = {
  whole: ['x', 1.5, -1, HUGE, 1e300, [], {}, [1], true],
  flag: ['perhaps', 2, [], {}, HUGE],
  date: ['sometime', '2024-13-45', '-99999999999d', HUGE, [], {}, true],
  name: ['fortnight', HUGE, 7, [], {}, ['day'], true],
  list: ['no JSON', 17, { a: 1 }, [[]], deep(30), HUGE],
  entities: ['no JSON', 17, { id: 'a' }, [17], [[]], Array.from({ length: 30 }, () => ({ id: 'a' }))],
  entity: ['no JSON', 17, [], [{ id: 'a' }], { id: [] }, { id: 'a', type: 'planets' }],
  filter: [
    ...['no JSON', 17, true, deep(30), HUGE, { type: 'XOR', values: [] }],
    ...[is('resembles', 'v'), is('', 'v').map((item) => ({ ...item, type: 'planet' }))],
    ...['(', 'a**', ['a', '(']].map((value) => is('regex', value)),
    is('not_regex', '[z-a]'),
    Array.from({ length: 300 }, () => ({ key: 'k', value: 1 })),
  ],
} as const satisfies Record<string, readonly unknown[]>;
type Kind = keyof typeof WRONG;
type Parameters = Readonly<Record<string, Kind>>;

const RANGE: Parameters = { date_from: 'date', date_to: 'date', explicit_date: 'flag', properties: 'filter' };
const SERIES: Parameters = { events: 'entities', actions: 'entities', ...RANGE };
const events = [{ id: 'a' }, { id: 'b', order: 1 }];

/** Of each kind of insight: filters that are right, and what they may hold besides. */
const INSIGHTS: Readonly<Record<string, readonly [right: object, parameters: Parameters]>> = {
  TRENDS: [{ events }, { ...SERIES, interval: 'name', breakdown_limit: 'whole', compare: 'flag' }],
  FUNNELS: [
    { events },
    {
      ...SERIES,
      funnel_window_interval: 'whole',
      funnel_window_interval_unit: 'name',
      funnel_order_type: 'name',
      funnel_viz_type: 'name',
      exclusions: 'list',
    },
  ],
  RETENTION: [
    { target_entity: { id: 'a' } },
    {
      ...RANGE,
      target_entity: 'entity',
      returning_entity: 'entity',
      period: 'name',
      total_intervals: 'whole',
      retention_type: 'name',
    },
  ],
  LIFECYCLE: [{ events: [{ id: 'a' }] }, { ...SERIES, interval: 'name' }],
  STICKINESS: [{ events }, { ...SERIES, interval: 'name' }],
  PATHS: [
    { include_event_types: ['custom_event'] },
    {
      ...RANGE,
      include_event_types: 'list',
      exclude_events: 'list',
      path_groupings: 'list',
      step_limit: 'whole',
      edge_limit: 'whole',
    },
  ],
};

const CASES = Object.entries(INSIGHTS).flatMap(([insight, [right, parameters]]) =>
  Object.entries(parameters).map(([name, kind]) => ({ insight, right, name, kind })),
);

onEveryDatabase('filters that are wrong', (db) => {
  let api: TestApi;
  let saved: number;
  beforeAll(async () => {
    api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(did('ann', 'a', '01-09 08:00', { k: 'v' }));
    saved = await make({});
  });

  const make = async (filters: object) =>
    ((await (await api.call('POST', 'insights/', { filters })).json()) as { id: number }).id;

  /** What an insight says to its filters. */
  async function ask(filters: object): Promise<{ status: number; error?: unknown; text: string }> {
    const written = await api.call('PATCH', `insights/${saved}/`, { filters });
    const response = written.ok ? await api.call('GET', `insights/${saved}/?refresh=true`) : written;
    const text = await response.text();
    const body = JSON.parse(text) as { error?: unknown };
    return { status: response.status, text, error: response.ok ? body.error : body };
  }

  /** Of the error of an insight, or the envelope of a refusal. */
  function findWords(error: unknown): string {
    const { message, detail } = (error ?? {}) as { message?: string; detail?: string };
    return message ?? detail ?? '';
  }

  test.each(Object.entries(INSIGHTS))('%s refuses each of them in words', async (insight, [right]) => {
    expect((await ask({ insight, ...right })).error ?? null).toBeNull();
    const faults: string[] = [];
    for (const { name, kind } of CASES.filter((one) => one.insight === insight)) {
      for (const value of WRONG[kind]) {
        const { status, error, text } = await ask({ insight, ...right, [name]: value });
        const isRefused = (status === 200 || status === 400) && findWords(error).length > 10;
        if (!isRefused) {
          faults.push(`${name}=${JSON.stringify(value).slice(0, 60)}: ${status} ${text.slice(0, 80)}`);
        }
      }
    }
    expect(faults).toEqual([]);
  });

  test('are never an error of the server, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...CASES),
        fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(...Object.values(WRONG).flat())),
        async ({ insight, right, name }, value) => {
          const { status, text } = await ask({ insight, ...right, [name]: value });
          expect([200, 400], text.slice(0, 200)).toContain(status);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('are refused by the lists of events and persons', async () => {
    for (const value of WRONG.filter) {
      const properties = typeof value === 'string' ? value : JSON.stringify(value);
      const path = `persons/?${new URLSearchParams({ properties }).toString()}`;
      const response = await api.call('GET', path);
      const body = (await response.json()) as { attr: string; detail: string };
      expect([response.status, body.attr ?? 'properties', body.detail], properties.slice(0, 60)).toEqual([
        400,
        'properties',
        expect.stringMatching(/.{10}/),
      ]);
    }
  });

  test.each([
    ['of an address', { url: '(', url_matching: 'regex' }],
    ['of a property', { properties: is('regex', 'a(') }],
    ['of what a property is not', { properties: is('not_regex', ['a', '(?=x)']) }],
  ])('a pattern %s that cannot be searched with is refused in an action', async (_, step) => {
    const response = await api.call('POST', 'actions/', { name: 'x', steps: [{ event: 'a', ...step }] });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      {
        attr: 'steps',
        detail: expect.stringContaining('is no regular expression that can be searched with'),
      },
    ]);
  });

  test('an action that has such a pattern already is of no event', async () => {
    const created = await api.call('POST', 'actions/', {
      name: 'x',
      steps: [{ event: 'a', url: '.', url_matching: 'regex' }],
    });
    const { id } = (await created.json()) as { id: number };
    await db().query(
      `update actions set steps = '[{"event":"a","url":"(","url_matching":"regex","properties":[]}]' where id = $1`,
      [id],
    );
    const { status, text } = await ask({ insight: 'TRENDS', actions: [{ id }] });
    expect([status, JSON.parse(text)]).toMatchObject([200, { result: [{ count: 0 }] }]);
  });
});
