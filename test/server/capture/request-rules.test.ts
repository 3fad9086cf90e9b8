import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { type Item, storedEvents } from '../../support/stored-rows.ts';

/** What a request may look like, each rule from both sides, in the rows. */
const PATHS = ['/batch', '/capture', '/e', '/track', '/engage', '/i/v0/e'].flatMap((path) => [
  path,
  `${path}/`,
]);

onEveryDatabase('requests', (db) => {
  let api: TestApi;
  let key: string;
  beforeAll(async () => {
    api = await createTestApi(db());
    key = api.project.projectKey;
  });
  const eventsOf = (distinctId: string) => storedEvents(db(), api.project.id, distinctId);

  describe.each(PATHS)('%s', (path) => {
    test('takes one event, a list of events and a batch', async () => {
      const id = randomUUID();
      const item = { event: 'e', distinct_id: id };
      for (const body of [
        { ...item, api_key: key },
        [{ ...item, token: key }],
        { token: key, batch: [item] },
      ]) {
        const response = await api.post(path, body);
        expect(response.status).toBe(200);
        expect(await response.json()).toEqual({ status: 1 });
      }
      expect(await eventsOf(id)).toHaveLength(3);
    });

    test('takes an event from its query, and says to OPTIONS that it is there', async () => {
      const id = randomUUID();
      const data = encodeURIComponent(JSON.stringify({ event: 'e', distinct_id: id, api_key: key }));
      expect((await api.app.request(`${path}?data=${data}`)).status).toBe(200);
      expect(await eventsOf(id)).toHaveLength(1);
      const options = await api.app.request(path, { method: 'OPTIONS' });
      expect([options.status, await options.json()]).toEqual([200, { status: 1 }]);
    });

    test('refuses what is no event, with the reason', async () => {
      const response = await api.post(path, { api_key: key, batch: [{ event: 'e' }] });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        type: 'validation_error',
        code: 'invalid_payload',
        detail: 'Invalid payload: All events must have the event field "distinct_id"!',
        attr: null,
      });
    });
  });

  const keyPlaces: [string, (id: string) => unknown][] = [
    ['api_key of the event', (id) => ({ event: 'e', distinct_id: id, api_key: key })],
    ['token of the event', (id) => ({ event: 'e', distinct_id: id, token: key })],
    ['$token of the event', (id) => ({ event: 'e', distinct_id: id, $token: key })],
    ['token of the properties', (id) => ({ event: 'e', distinct_id: id, properties: { token: key } })],
    ['api_key of the batch', (id) => ({ api_key: key, batch: [{ event: 'e', distinct_id: id }] })],
    ['the events of a batch', (id) => ({ batch: [{ event: 'e', distinct_id: id, api_key: key }] })],
    [
      'some events of a list',
      (id) => [
        { event: 'e', distinct_id: id, api_key: key },
        { event: 'e', distinct_id: 'x' },
      ],
    ],
    [
      'the batch, whatever its events say',
      (id) => ({ api_key: key, batch: [{ event: 'e', distinct_id: id, token: 'phc_other' }] }),
    ],
  ];
  test.each(keyPlaces)('finds the project key in %s', async (_place, body) => {
    const id = randomUUID();
    expect((await api.post('/e/', body(id))).status).toBe(200);
    const [event] = await eventsOf(id);
    expect(event?.properties).not.toHaveProperty('token');
  });

  test.each(['api_key', 'token'])('takes the field %s of a form before a key inside', async (field) => {
    const id = randomUUID();
    const form = new URLSearchParams({
      data: JSON.stringify({ event: 'e', distinct_id: id, token: 'phc_other' }),
      [field]: key,
    });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    expect((await api.post('/e/', form.toString(), headers)).status).toBe(200);
    expect(await eventsOf(id)).toHaveLength(1);
  });

  const ids: [unknown, string][] = [
    [23, '23'],
    ['023', '023'],
    [12.5, '12.5'],
    [true, 'true'],
    [['a', 1], '["a",1]'],
    [{ a: 1 }, '{"a":1}'],
    [' spaced ', ' spaced '],
    ['0', '0'],
  ];
  test.each(ids)('takes the id %j for the text %j', async (id, text) => {
    const event = randomUUID();
    await api.send({ event, distinct_id: id });
    expect((await eventsOf(text)).map((row) => row.event)).toContain(event);
  });

  test.each([null, '', '  ', 0, false])('refuses the id %j as blank', async (id) => {
    const response = await api.post('/batch/', { api_key: key, batch: [{ event: 'e', distinct_id: id }] });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      detail: 'Invalid payload: Event field "distinct_id" should not be blank!',
    });
  });

  test('takes $distinct_id before that of the properties, and that before the plain one', async () => {
    const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
    await api.send(
      { event: 'a', $distinct_id: first, distinct_id: third, properties: { distinct_id: second } },
      { event: 'b', distinct_id: third, properties: { distinct_id: second } },
      { event: 'c', distinct_id: third, properties: {} },
    );
    expect((await eventsOf(first)).map(({ event }) => event)).toEqual(['a']);
    expect((await eventsOf(second)).map(({ event }) => event)).toEqual(['b']);
    expect((await eventsOf(third)).map(({ event }) => event)).toEqual(['c']);
  });

  test('writes names that are no text as JSON, and leaves performance traces out', async () => {
    const id = randomUUID();
    await api.send(
      { event: 7, distinct_id: id },
      { event: { a: [1] }, distinct_id: id },
      { event: false, distinct_id: id },
      { event: '$performance_event', distinct_id: id },
    );
    expect((await eventsOf(id)).map(({ event }) => event)).toEqual(['7', 'false', '{"a":[1]}']);
  });

  test('an empty batch is accepted, and stores nothing', async () => {
    expect((await api.post('/batch/', { api_key: key, batch: [] })).status).toBe(200);
  });

  describe('time', () => {
    const now = Date.parse('2024-06-01T12:00:00.000Z');
    const HOUR = 3_600_000;
    const rules: [string, Item, Item, string][] = [
      ['none', {}, {}, '2024-06-01T12:00:00.000Z'],
      ['a timestamp', { timestamp: '2020-02-29T23:59:59.999+01:00' }, {}, '2020-02-29T22:59:59.999Z'],
      [
        'a timestamp without zone',
        { timestamp: '2020-08-16 09:03:11.913767' },
        {},
        '2020-08-16T09:03:11.913Z',
      ],
      [
        'a clock that is an hour late',
        { timestamp: '2024-06-01T10:59:00Z' },
        { sent_at: '2024-06-01T11:00:00Z' },
        '2024-06-01T11:59:00.000Z',
      ],
      [
        'a clock whose lateness does not matter',
        { timestamp: '2024-06-01T10:59:00Z', properties: { $ignore_sent_at: true } },
        { sent_at: '2024-06-01T11:00:00Z' },
        '2024-06-01T10:59:00.000Z',
      ],
      ['an offset', { offset: 1500 }, {}, '2024-06-01T11:59:58.500Z'],
      [
        'an offset beside a timestamp',
        { offset: 1500, timestamp: '2020-01-01' },
        {},
        '2024-06-01T11:59:58.500Z',
      ],
      [
        'an offset of nothing beside a timestamp',
        { offset: 0, timestamp: '2020-01-01' },
        {},
        '2020-01-01T00:00:00.000Z',
      ],
      ['a timestamp 23 hours ahead', { timestamp: now + 23 * HOUR }, {}, '2024-06-02T11:00:00.000Z'],
      ['a timestamp further ahead', { timestamp: now + 23 * HOUR + 1 }, {}, '2024-06-01T12:00:00.000Z'],
      ['a timestamp that cannot be read', { timestamp: 'yesterday' }, {}, '2024-06-01T12:00:00.000Z'],
      [
        'a timestamp of another century',
        { timestamp: '1899-12-31T23:59:59Z' },
        {},
        '1899-12-31T23:59:59.000Z',
      ],
    ];
    test.each(rules)('of an event with %s', async (_rule, item, envelope, expected) => {
      const clocked = await createTestApi(db(), () => now);
      const id = randomUUID();
      const response = await clocked.post('/batch/', {
        api_key: clocked.project.projectKey,
        batch: [{ event: 'e', distinct_id: id, ...item }],
        ...envelope,
      });
      expect(response.status).toBe(200);
      const rows = await db().query(
        'select timestamp from events where project_id = $1 and distinct_id = $2',
        [clocked.project.id, id],
      );
      expect(rows).toEqual([{ timestamp: expected }]);
    });
  });
});
