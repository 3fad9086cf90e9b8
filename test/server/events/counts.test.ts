import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { createTestApi, type TestApi } from '../../support/api.ts';
import { onBothDatabases } from '../../support/databases.ts';

onBothDatabases('counts by time', (db) => {
  let api: TestApi;
  const event = (
    name: string,
    timestamp: string,
    distinctId: string,
    properties: object = { job: 'web' },
  ) => ({
    uuid: randomUUID(),
    event: name,
    timestamp,
    properties: { distinct_id: distinctId, ...properties },
  });
  beforeAll(async () => {
    api = await createTestApi(db());
    await api.send(
      event('a', '2024-02-29T23:59:59.999Z', 'browser-7'),
      event('a', '2024-02-29T12:00:00Z', 'ada'),
      event('b', '2024-03-01T00:00:00Z', 'ada'),
      event('$identify', '2024-02-29T13:00:00Z', 'ada', { job: 'web', $anon_distinct_id: 'browser-7' }),
      event('$identify', '2024-02-28T13:00:00Z', 'bob'),
      event('a', '2024-02-29T14:00:00Z', 'carl', { job: 'ios' }),
      event('a', '2024-02-29T15:00:00Z', 'dora', {}),
    );
  });

  test('are those of a stamp, with the number of others', async () => {
    expect(await api.read('event_counts/months/?property=job&value=web')).toEqual({
      results: [
        { month: '2024-02', count: 4, others: 2 },
        { month: '2024-03', count: 1, others: 0 },
      ],
    });
    expect(await api.read('event_counts/months/')).toEqual({
      results: [
        { month: '2024-02', count: 6, others: 0 },
        { month: '2024-03', count: 1, others: 0 },
      ],
    });
  });

  test('are by day and name, and merged persons are one', async () => {
    const without = encodeURIComponent(JSON.stringify(['$identify']));
    expect(
      await api.read(`event_counts/days/?month=2024-02&property=job&value=web&without=${without}`),
    ).toEqual({
      results: [
        { day: '2024-02-28', event: '$identify', count: 1, users: 1 },
        { day: '2024-02-29', event: '$identify', count: 1, users: 1 },
        { day: '2024-02-29', event: 'a', count: 2, users: 1 },
      ],
      users: 1,
    });
    expect(await api.read('event_counts/days/?month=2024-12')).toEqual({ results: [], users: 0 });
  });

  test.each([
    ['month=2024-13', 'month'],
    ['', 'month'],
    ['month=2024-02&without=a', 'without'],
  ])('refuse %s', async (query, attr) => {
    const response = await api.get(`event_counts/days/?${query}`);
    expect([response.status, ((await response.json()) as { attr: string }).attr]).toEqual([400, attr]);
  });
});
