import { beforeAll, expect, test } from 'vitest';
import { onEveryDatabase } from '../../support/databases.ts';
import { createLab, type Lab } from '../insights/lab.ts';

/**
 * In Vienna the clocks go back on Sunday, 29 October 2023 at 01:00 UTC: that day begins on 28 October at 22:00
 * UTC, has 25 hours, and ends on 29 October at 23:00 UTC. They go forward on Sunday, 26 March 2023.
 */
const EVENTS = [
  ['sat', '2023-10-28T21:59:59.999Z'],
  ['first', '2023-10-28T22:00:00.000Z'],
  ['last', '2023-10-29T22:59:59.999Z'],
  ['mon', '2023-10-29T23:00:00.000Z'],
  ['sat', '2023-10-29T08:00:00.000Z'],
  ['short', '2023-03-25T23:00:00.000Z'],
  ['next', '2023-03-26T22:00:00.000Z'],
] as const;

onEveryDatabase('the calendar of a project', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
    const { api } = lab;
    const response = await api.call('PATCH', '', { timezone: 'Europe/Vienna', week_start_day: 1 });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { name: 'test', timezone: 'Europe/Vienna', week_start_day: 1 },
    ]);
    await api.send(
      ...EVENTS.map(([distinct_id, timestamp]) => ({
        event: 'view',
        timestamp,
        properties: { distinct_id },
      })),
    );
  });

  const events = [{ id: 'view', math: 'dau' }];
  const json = encodeURIComponent(JSON.stringify(events));
  const names = async (path: string): Promise<string[]> => {
    const { results } = await lab.api.read<{ results: { people: { name: string }[] }[] }>(`persons/${path}`);
    return (results[0]?.people ?? []).map(({ name }) => name).sort();
  };

  test('says where days begin, also those of 25 and of 23 hours', async () => {
    const dates = { date_from: '2023-10-28', date_to: '2023-10-30' };
    const [shown] = await lab.compute('TRENDS', { events, ...dates });
    expect([shown?.days, shown?.data]).toEqual([
      ['2023-10-28', '2023-10-29', '2023-10-30'],
      [1, 3, 1],
    ]);
    const day = (date: string) => names(`trends/?entity_id=view&date_from=${date}&date_to=${date}`);
    expect(await day('2023-10-28')).toEqual(['sat']);
    expect(await day('2023-10-29')).toEqual(['first', 'last', 'sat']);
    expect(await day('2023-10-30')).toEqual(['mon']);
    expect(await day('2023-03-26')).toEqual(['short']);
    expect(await day('2023-03-27')).toEqual(['next']);
  });

  test('says where weeks begin', async () => {
    const week = { interval: 'week', date_from: '2023-10-23', date_to: '2023-10-31' };
    const [shown] = await lab.compute('TRENDS', { events, ...week });
    expect([shown?.days, shown?.data]).toEqual([
      ['2023-10-23', '2023-10-30'],
      [3, 1],
    ]);
    const query = `events=${json}&interval=week&date_from=2023-10-23&date_to=2023-10-31`;
    expect(await names(`lifecycle/?${query}&lifecycle_type=new&target_date=2023-10-29`)).toEqual([
      'first',
      'last',
      'sat',
    ]);
    expect(await names(`lifecycle/?${query}&lifecycle_type=dormant&target_date=2023-10-30`)).toEqual([
      'first',
      'last',
      'sat',
    ]);
  });

  test('counts relative dates and hours from its own midnight', async () => {
    const retention = await lab.compute('RETENTION', {
      target_entity: { id: 'view' },
      date_to: '2023-10-29',
      total_intervals: 2,
    });
    expect(retention.map(({ date, values }) => [date, values.map(({ count }) => count)])).toEqual([
      ['2023-10-28T00:00:00.000+02:00', [1, 1]],
      ['2023-10-29T00:00:00.000+02:00', [3]],
    ]);
    expect(
      await names('stickiness/?entity_id=view&stickiness_days=2&date_from=2023-10-28&date_to=2023-10-30'),
    ).toEqual(['sat']);
    const hour =
      'trends/?entity_id=view&interval=hour&date_from=2023-10-29T00:00:00&date_to=2023-10-29T00:00:00';
    expect(await names(hour)).toEqual(['first']);
  });

  test('is refused where it is none', async () => {
    for (const [body, attr] of [
      [{ timezone: 'Mars/Olympus' }, 'timezone'],
      [{ week_start_day: 3 }, 'week_start_day'],
    ] as const) {
      const response = await lab.api.call('PATCH', '', body);
      expect([response.status, await response.json()]).toMatchObject([400, { attr }]);
    }
  });
});
