import { beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/server/http/json.ts';
import type { TrendSeries } from '../../../../src/server/insights/trends/model.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { createLab, did, type Lab } from '../lab.ts';

const view = { id: '$pageview', type: 'events', name: '$pageview' };

onEveryDatabase('trends', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
    await lab.api.send(
      did('ann', '$pageview', '01-01 10:00', { $browser: 'Chrome', $session_id: 's1' }),
      did('ann', '$pageview', '01-07 00:00', { $browser: 'Chrome', $session_id: 's1', paid: 1.5 }),
      did('ann', '$pageview', '01-08 23:59', { $browser: 'Safari', $session_id: 's2', paid: '2.5' }),
      did('anonymous-1', '$pageview', '01-08 08:00', { $browser: 'Chrome', $session_id: 's3', paid: 'much' }),
      // From here on the visitor is ann.
      did('ann', '$identify', '01-08 09:00', { $anon_distinct_id: 'anonymous-1', $set: { plan: 'pro' } }),
      did('bob', '$pageview', '01-08 12:00', { $browser: 'Firefox', $session_id: 's4', paid: 10 }),
      did('bob', '$pageview', '01-10 11:00', { $session_id: 's4', paid: 1e300 }),
      did('bob', 'signed up', '01-10 11:30'),
      // Not on any person's account.
      did('robot', '$pageview', '01-10 11:45', { $process_person_profile: false }),
    );
  });

  const series = async (filters: JsonObject): Promise<readonly TrendSeries[]> =>
    lab.compute('TRENDS', { events: [view], date_from: '2024-01-07', ...filters });
  const data = async (filters: JsonObject) => (await series(filters)).map((shown) => shown.data);

  test('count events by the day', async () => {
    expect(await series({})).toEqual([
      {
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
        label: '$pageview',
        count: 6,
        data: [1, 3, 0, 2],
        labels: ['7-Jan-2024', '8-Jan-2024', '9-Jan-2024', '10-Jan-2024'],
        days: ['2024-01-07', '2024-01-08', '2024-01-09', '2024-01-10'],
      },
    ]);
  });

  test('show a formula instead of its series', async () => {
    const [shown, ...more] = await series({
      events: [view, { ...view, order: 1, math: 'dau' }],
      formula: 'A / B',
    });
    expect(more).toEqual([]);
    expect(shown).toMatchObject({ label: 'Formula (A / B)', action: null, data: [1, 1.5, 0, 1] });
  });

  test('are smoothed, each line and period by itself, and formulas of them', async () => {
    expect(await data({ smoothing_intervals: 2 })).toEqual([[1, 2, 1, 1]]);
    expect(await series({ smoothing_intervals: 2 })).toMatchObject([{ count: 5 }]);
    expect(await data({ smoothing_intervals: '3', compare: true })).toEqual([
      [1, 2, 1, 1],
      [0, 0, 0, 0],
    ]);
    expect(await data({ smoothing_intervals: 2, display: 'ActionsLineGraphCumulative' })).toEqual([
      [1, 2, 4, 5],
    ]);
    expect(await data({ smoothing_intervals: 2, breakdown: '$browser' })).toEqual([
      [1, 1, 0, 0],
      [0, 0, 0, 1],
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
    const events = [view, { ...view, order: 1, math: 'dau' }];
    expect(await data({ events, formula: 'A / B', smoothing_intervals: 2 })).toEqual([[1, 2, 1, 1]]);
  });

  test('of one number are not smoothed', async () => {
    const [shown] = await series({ display: 'BoldNumber', smoothing_intervals: 7 });
    expect(shown).toMatchObject({ aggregated_value: 6, count: 6 });
  });

  test('choose the interval from the data where it is auto, and end with it', async () => {
    const [shown] = await series({ date_from: 'all', interval: 'auto' });
    expect(shown?.days).toHaveLength(10);
    expect([shown?.days[0], shown?.days.at(-1), shown?.count]).toEqual(['2024-01-01', '2024-01-10', 7]);
  });

  test('cover the last seven days until now unless they say otherwise', async () => {
    const [shown] = await series({ date_from: null });
    expect(shown?.days).toEqual([
      '2024-01-03',
      '2024-01-04',
      '2024-01-05',
      '2024-01-06',
      '2024-01-07',
      '2024-01-08',
      '2024-01-09',
      '2024-01-10',
    ]);
    expect(shown?.data).toEqual([0, 0, 0, 0, 1, 3, 0, 2]);
  });

  test('count by hour, week and month', async () => {
    const hours = await series({ interval: 'hour', date_from: '-2h' });
    expect(hours[0]?.days).toEqual(['2024-01-10 10:00:00', '2024-01-10 11:00:00', '2024-01-10 12:00:00']);
    expect(hours[0]?.labels[0]).toBe('10-Jan-2024 10:00');
    expect(hours[0]?.data).toEqual([0, 2, 0]);
    const weeks = await series({ interval: 'week', date_from: '2024-01-01' });
    expect(weeks[0]?.days).toEqual(['2023-12-31', '2024-01-07']);
    expect(weeks[0]?.data).toEqual([1, 6]);
    const months = await series({ interval: 'month', date_from: '2023-12-15' });
    expect(months[0]?.days).toEqual(['2023-12-01', '2024-01-01']);
    expect(months[0]?.data).toEqual([0, 7]);
  });

  test('begin with the first event when asked for all', async () => {
    const [shown] = await series({ date_from: 'all', interval: 'week' });
    expect(shown?.data).toEqual([1, 6]);
  });

  test('count people once a day, merged ones as one, and ids without a person as themselves', async () => {
    const events = [{ ...view, math: 'dau' }];
    expect(await data({ events })).toEqual([[1, 2, 0, 2]]);
    expect(await data({ events, interval: 'week' })).toEqual([[3]]);
  });

  test('count people who were active in the last week or month of each interval', async () => {
    // ann on 1, 7 and 8 January, bob on 8 and 10, the robot on 10
    expect(await data({ events: [{ ...view, math: 'weekly_active' }] })).toEqual([[1, 2, 2, 3]]);
    expect(
      await data({
        events: [{ ...view, math: 'weekly_active' }],
        date_from: '2024-01-01',
        date_to: '2024-01-07',
      }),
    ).toEqual([[1, 1, 1, 1, 1, 1, 1]]);
    expect(
      await data({
        events: [{ ...view, id: 'signed up', math: 'weekly_active' }],
        date_from: '2024-01-09',
        date_to: '2024-01-18',
      }),
    ).toEqual([[0, 1, 1, 1, 1, 1, 1, 1, 0, 0]]);
    expect(await data({ events: [{ ...view, math: 'monthly_active' }] })).toEqual([[1, 2, 2, 3]]);
    // A week holds fewer days than the window, an hour more.
    expect(
      await data({ events: [{ ...view, math: 'weekly_active' }], interval: 'week', date_from: '2024-01-01' }),
    ).toEqual([[1, 3]]);
    expect(
      await data({
        events: [{ ...view, math: 'weekly_active' }],
        interval: 'month',
        date_from: '2024-01-01',
      }),
    ).toEqual([[0]]);
  });

  test('count sessions', async () => {
    expect(await data({ events: [{ ...view, math: 'unique_session' }] })).toEqual([[1, 3, 0, 1]]);
  });

  test.each([
    // paid on 8 January: "2.5" and 10; what is no number, or beyond all sums, does not count
    ['sum', [1.5, 12.5, 0, 0]],
    ['avg', [1.5, 6.25, 0, 0]],
    ['min', [1.5, 2.5, 0, 0]],
    ['max', [1.5, 10, 0, 0]],
    ['median', [1.5, 6.25, 0, 0]],
    ['p90', [1.5, 9.25, 0, 0]],
    ['p95', [1.5, 9.625, 0, 0]],
    ['p99', [1.5, 9.925, 0, 0]],
  ])('take the %s of a property', async (math, expected) => {
    const [line] = await data({ events: [{ ...view, math, math_property: 'paid' }] });
    expect(line?.map((value) => Math.round(value * 1e6) / 1e6)).toEqual(expected);
  });

  test('break down by a property of events, most first, events without it last among equals', async () => {
    const shown = await series({ breakdown: '$browser' });
    expect(shown.map(({ label, breakdown_value, count }) => [label, breakdown_value, count])).toEqual([
      ['Chrome', 'Chrome', 2],
      ['none', '', 2],
      ['Firefox', 'Firefox', 1],
      ['Safari', 'Safari', 1],
    ]);
  });

  test('break down by a property of persons, as they are now', async () => {
    const shown = await series({
      breakdown: 'plan',
      breakdown_type: 'person',
      events: [{ ...view, math: 'dau' }],
    });
    expect(shown.map(({ label, data: values }) => [label, values])).toEqual([
      ['none', [0, 1, 0, 2]],
      ['pro', [1, 1, 0, 0]],
    ]);
  });

  test('add the values beyond the limit of a breakdown up', async () => {
    const shown = await series({ breakdown: '$browser', breakdown_limit: 1 });
    expect(shown.map(({ label, data: values }) => [label, values])).toEqual([
      ['Chrome', [1, 1, 0, 0]],
      ['Other', [0, 2, 0, 2]],
    ]);
    const hidden = await series({
      breakdown: '$browser',
      breakdown_limit: 1,
      breakdown_hide_other_aggregation: true,
    });
    expect(hidden.map(({ label }) => label)).toEqual(['Chrome']);
  });

  test('break active people down', async () => {
    const shown = await series({ breakdown: '$browser', events: [{ ...view, math: 'weekly_active' }] });
    expect(shown.map(({ label, data: values }) => [label, values])).toEqual([
      ['Chrome', [1, 1, 1, 1]],
      ['Firefox', [0, 1, 1, 1]],
      ['Safari', [0, 1, 1, 1]],
      ['none', [0, 0, 0, 2]],
    ]);
  });

  test('name the series where several are broken down', async () => {
    const shown = await series({
      events: [view, { id: 'signed up', name: 'Sign-up' }],
      breakdown: '$browser',
      breakdown_limit: 1,
      breakdown_hide_other_aggregation: true,
    });
    expect(shown.map(({ label }) => label)).toEqual(['$pageview - Chrome', 'Sign-up - none']);
  });

  test('compare with as many intervals before', async () => {
    const shown = await series({ compare: true });
    expect(shown.map(({ compare_label, days, data: values }) => [compare_label, days[0], values])).toEqual([
      ['current', '2024-01-07', [1, 3, 0, 2]],
      ['previous', '2024-01-03', [0, 0, 0, 0]],
    ]);
    const weeks = await series({ compare: true, interval: 'week' });
    expect(weeks.map(({ days, data: values }) => [days, values])).toEqual([
      [['2024-01-07'], [6]],
      [['2023-12-31'], [1]],
    ]);
  });

  test('give one number a series where the display shows one', async () => {
    const shown = await series({
      display: 'BoldNumber',
      events: [
        { ...view, math: 'dau' },
        { id: 'signed up', order: 1 },
      ],
    });
    expect(shown).toMatchObject([
      { label: '$pageview', aggregated_value: 3, count: 3, data: [], days: [], labels: [] },
      { label: 'signed up', aggregated_value: 1 },
    ]);
    const pie = await series({ display: 'ActionsPie', breakdown: '$browser' });
    expect(pie.map(({ breakdown_value, aggregated_value }) => [breakdown_value, aggregated_value])).toEqual([
      ['Chrome', 2],
      ['', 2],
      ['Firefox', 1],
      ['Safari', 1],
    ]);
  });

  test('add days up, people only once', async () => {
    const display = 'ActionsLineGraphCumulative';
    expect(await data({ display })).toEqual([[1, 4, 4, 6]]);
    const [people] = await series({ display, events: [{ ...view, math: 'dau' }] });
    expect(people?.data).toEqual([1, 2, 2, 3]);
    expect(people?.count).toBe(3);
  });

  test('look only at events that pass the filters of the insight, its series and its dashboard', async () => {
    const chrome = { key: '$browser', value: 'Chrome', type: 'event' };
    expect(await data({ properties: [chrome] })).toEqual([[1, 1, 0, 0]]);
    expect(await data({ events: [{ ...view, properties: [chrome] }, view] })).toEqual([
      [1, 1, 0, 0],
      [1, 3, 0, 2],
    ]);
    const pro = { key: 'plan', value: 'pro', type: 'person' };
    expect(await data({ properties: [pro] })).toEqual([[1, 2, 0, 0]]);
    const filters = { events: [view], date_from: '-30d', properties: [chrome] };
    const shown = await lab.compute('TRENDS', filters, {
      date_from: '2024-01-08',
      date_to: '2024-01-08',
      properties: [pro],
    });
    expect(shown.map((one) => one.data)).toEqual([[1]]);
  });

  test('count every event when none is named', async () => {
    const [shown] = await series({ events: [{ id: null }] });
    expect(shown?.data).toEqual([1, 4, 0, 3]);
    expect(shown?.label).toBe('All events');
  });

  test('know the edges of a day', async () => {
    expect(await data({ date_from: '2024-01-07', date_to: '2024-01-07' })).toEqual([[1]]);
    expect(await data({ date_from: '2024-01-08', date_to: '2024-01-08' })).toEqual([[3]]);
    const explicit = { date_to: '2024-01-08T23:58:59', explicit_date: true };
    expect(await data({ date_from: '2024-01-08T08:00:00', ...explicit })).toEqual([[2]]);
  });

  test('are empty where a range ends before it begins', async () => {
    const [shown] = await series({ date_from: '2024-01-09', date_to: '2024-01-07' });
    expect(shown).toMatchObject({ count: 0, data: [], days: [] });
  });

  test('of a project without events are zero', async () => {
    const empty = await createLab(db());
    const filters = { events: [view], date_from: '2024-01-09' };
    expect((await empty.compute('TRENDS', filters)).map((shown) => shown.data)).toEqual([[0, 0]]);
    expect(await empty.compute('TRENDS', { ...filters, breakdown: '$browser' })).toEqual([]);
    const [all] = await empty.compute('TRENDS', { events: [view], date_from: 'all' });
    expect(all?.data).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });

  describe('that ask for too much', () => {
    test('say so', async () => {
      const hours = { interval: 'hour', date_from: '-399d', breakdown: '$browser' };
      const few = await lab.ask({ events: [view], ...hours, breakdown_limit: 9 });
      expect(few.kind).toBe('computed');
      const many = await lab.ask({ events: [view], ...hours, breakdown_limit: 10 });
      expect(many).toMatchObject({ kind: 'failed', reason: 'too_large' });
      const endless = await lab.ask({ events: [view], interval: 'hour', date_from: '2000-01-01' });
      expect(endless).toMatchObject({ kind: 'failed', reason: 'invalid' });
    });
  });
});
