import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/server/http/json.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { createLab, did, type Lab } from '../lab.ts';

onEveryDatabase('retention', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
    await lab.api.send(
      did('old', 'view', '01-01 10:00'),
      did('old', 'view', '01-08 10:00'),
      did('ann', 'view', '01-07 00:00'),
      did('ann', 'view', '01-07 23:00'),
      did('ann', 'paid', '01-07 23:30'),
      did('ann', 'view', '01-09 10:00'),
      did('ann', 'paid', '01-10 10:00'),
      // bob comes back as a visitor who turns out to be bob
      did('bob', 'view', '01-08 10:00'),
      did('visitor', 'view', '01-09 10:00'),
      did('bob', '$identify', '01-09 10:01', { $anon_distinct_id: 'visitor' }),
      did('bob', 'paid', '01-10 11:00'),
    );
  });

  const target = { id: 'view', type: 'events' };
  const rows = async (filters: JsonObject): Promise<number[][]> =>
    (await lab.compute('RETENTION', { target_entity: target, total_intervals: 4, ...filters })).map((row) =>
      row.values.map(({ count }) => count),
    );

  test('has a row a day, with who came back so many days later', async () => {
    expect(await lab.compute('RETENTION', { target_entity: target, total_intervals: 4 })).toEqual([
      {
        date: '2024-01-07T00:00:00.000Z',
        label: 'Day 0',
        values: [{ count: 1 }, { count: 0 }, { count: 1 }, { count: 0 }],
      },
      {
        date: '2024-01-08T00:00:00.000Z',
        label: 'Day 1',
        values: [{ count: 2 }, { count: 1 }, { count: 0 }],
      },
      { date: '2024-01-09T00:00:00.000Z', label: 'Day 2', values: [{ count: 2 }, { count: 0 }] },
      { date: '2024-01-10T00:00:00.000Z', label: 'Day 3', values: [{ count: 0 }] },
    ]);
  });

  test('counts everybody in the first column, whatever the event to return with', async () => {
    const returning_entity = { id: 'paid', type: 'events' };
    expect(await rows({ returning_entity })).toEqual([[1, 0, 0, 1], [2, 0, 1], [2, 2], [0]]);
  });

  test('can go by the first time ever', async () => {
    const first = { retention_type: 'retention_first_time' };
    expect(await rows(first)).toEqual([[1, 0, 1, 0], [1, 1, 0], [0, 0], [0]]);
    expect(await rows({ ...first, total_intervals: 10 })).toContainEqual([1, 0, 0, 0, 0, 0, 0, 1, 0, 0]);
  });

  test('has rows of weeks, months and hours', async () => {
    expect(await rows({ period: 'Week', total_intervals: 2 })).toEqual([[1, 1], [3]]);
    expect(await rows({ period: 'Month', total_intervals: 2 })).toEqual([[0, 0], [3]]);
    const hours = await lab.compute('RETENTION', {
      target_entity: target,
      period: 'Hour',
      total_intervals: 3,
    });
    expect(hours.map(({ date }) => date)).toEqual([
      '2024-01-10T10:00:00.000Z',
      '2024-01-10T11:00:00.000Z',
      '2024-01-10T12:00:00.000Z',
    ]);
  });

  test('ends with the day that it is asked for', async () => {
    expect(await rows({ date_to: '2024-01-09', total_intervals: 3 })).toEqual([[1, 0, 1], [2, 1], [2]]);
  });

  test('looks only at what passes the filters', async () => {
    const properties = [{ key: 'distinct_id', value: 'ann', type: 'event' }];
    expect(await rows({ properties })).toEqual([[1, 0, 1, 0], [0, 0, 0], [1, 0], [0]]);
  });

  test('of a project without events is zero', async () => {
    const empty = await createLab(db());
    const shown = await empty.compute('RETENTION', { total_intervals: 2 });
    expect(shown.map(({ values }) => values)).toEqual([[{ count: 0 }, { count: 0 }], [{ count: 0 }]]);
  });
});
