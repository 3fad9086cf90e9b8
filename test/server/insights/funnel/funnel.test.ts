import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/server/http/json.ts';
import type {
  FunnelRates,
  FunnelStep,
  FunnelSteps,
  FunnelTimes,
} from '../../../../src/server/insights/funnel/model.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { createLab, did, type Lab } from '../lab.ts';

const steps = (...ids: readonly string[]) => ids.map((id, order) => ({ id, type: 'events', order }));

const toQuery = (filters: object): string =>
  new URLSearchParams(
    Object.entries(filters).map(([key, value]): [string, string] => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString();

onEveryDatabase('funnels', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
    await lab.api.send(
      // ann takes all three steps: after one minute, then after two
      did('ann', 'view', '01-05 10:00', { $browser: 'Chrome' }),
      did('ann', 'cart', '01-05 10:01', { $browser: 'Safari' }),
      did('ann', 'paid', '01-05 10:03'),
      // bob pays before the cart, and then only fills it
      did('bob', 'paid', '01-05 09:00'),
      did('bob', 'view', '01-05 10:00', { $browser: 'Firefox' }),
      did('bob', 'cart', '01-05 10:03'),
      // eve reads help between the first two steps, and takes exactly fourteen days for the third
      did('eve', 'view', '01-01 10:00'),
      did('eve', 'help', '01-01 11:00'),
      did('eve', 'cart', '01-02 10:00'),
      did('eve', 'paid', '01-10 10:00', { $browser: 'Chrome' }),
      // dan begins as a visitor and is known from the second step on
      did('visitor', 'view', '01-06 10:00'),
      did('dan', '$identify', '01-06 10:02', { $anon_distinct_id: 'visitor' }),
      did('dan', 'cart', '01-06 10:04'),
      // joe never comes past the first step, zoe never to it
      did('joe', 'view', '01-06 10:00'),
      did('zoe', 'cart', '01-06 10:00'),
    );
  });

  const ask = async (filters: JsonObject) =>
    (await lab.compute('FUNNELS', {
      events: steps('view', 'cart', 'paid'),
      date_from: '2024-01-01',
      ...filters,
    })) as FunnelSteps;
  const counts = async (filters: JsonObject = {}): Promise<number[]> =>
    (await ask(filters)).map((step) => ('count' in step ? step.count : -1));

  test('over time are the share of those who entered in each period that came through', async () => {
    const asked = {
      ...{ funnel_viz_type: 'trends', events: steps('view', 'paid'), interval: 'week' },
      ...{ date_from: '2023-12-31', date_to: '2024-01-13' },
    };
    const entered = await lab.api.read<{ total_count: number }>(
      `persons/funnel/?${toQuery({ ...asked, entrance_period_start: '2024-01-01', drop_off: false, funnel_to_step: 1 })}`,
    );
    const [line] = (await lab.compute('FUNNELS', asked)) as readonly FunnelRates[];
    expect(line).toMatchObject({
      count: 2,
      days: ['2023-12-31', '2024-01-07'],
      labels: ['31-Dec-2023', '7-Jan-2024'],
    });
    const [all = 0, through = 0] = [line?.reached_from_step_count[0], line?.reached_to_step_count[0]];
    expect(through).toBe(entered.total_count);
    expect(line?.data[0]).toBe(Math.round((through / all) * 10_000) / 100);
    expect(all).toBeGreaterThan(through);
  });

  test('by time to convert have a bin for every span of it', async () => {
    const asked = { events: steps('view', 'cart'), funnel_viz_type: 'time_to_convert', bin_count: 2 };
    const shown = (await lab.compute('FUNNELS', { ...asked, date_from: '2024-01-01' })) as FunnelTimes;
    const listed = (more: object) =>
      lab.api.read<{ total_count: number }>(
        `persons/funnel/?${toQuery({ ...asked, ...more, date_from: '2024-01-01' })}`,
      );
    const [first, second] = shown.bins;
    expect(shown.bins.length).toBeGreaterThan(1);
    expect((second?.[0] ?? 0) - (first?.[0] ?? 0)).toBe(shown.bin_width);
    expect((await listed({})).total_count).toBe(shown.bins.reduce((sum, [, persons]) => sum + persons, 0));
    expect((await listed({ funnel_time_until: second?.[0] })).total_count).toBe(first?.[1]);
  });

  test('count who came how far, and how long that took', async () => {
    expect(await ask({ funnel_window_interval: 3, funnel_window_interval_unit: 'hour' })).toEqual([
      {
        action_id: 'view',
        name: 'view',
        custom_name: null,
        order: 0,
        type: 'events',
        count: 5,
        average_conversion_time: null,
        median_conversion_time: null,
      },
      {
        action_id: 'cart',
        name: 'cart',
        custom_name: null,
        order: 1,
        type: 'events',
        count: 3,
        // 60, 180 and 240 seconds
        average_conversion_time: 160,
        median_conversion_time: 180,
      },
      {
        action_id: 'paid',
        name: 'paid',
        custom_name: null,
        order: 2,
        type: 'events',
        count: 1,
        average_conversion_time: 120,
        median_conversion_time: 120,
      },
    ]);
    expect(await counts()).toEqual([5, 4, 2]);
  });

  test('hold their window open until its last moment, counted from the first step', async () => {
    // eve: nine days from the first step to the third
    expect(await counts({ funnel_window_interval: 9 })).toEqual([5, 4, 2]);
    const seconds = { funnel_window_interval_unit: 'second' };
    expect(await counts({ funnel_window_interval: 9 * 86_400 - 1, ...seconds })).toEqual([5, 4, 1]);
    expect(await counts({ funnel_window_interval: 60, ...seconds })).toEqual([5, 1, 0]);
    expect(await counts({ funnel_window_interval: 59, ...seconds })).toEqual([5, 0, 0]);
    expect(await counts({ funnel_window_interval: 1, funnel_window_interval_unit: 'week' })).toEqual([
      5, 4, 1,
    ]);
    expect(await counts({ funnel_window_interval: 1, funnel_window_interval_unit: 'month' })).toEqual([
      5, 4, 2,
    ]);
  });

  test('with strict order let nothing come between', async () => {
    // eve read help; dan identified himself
    expect(await counts({ funnel_order_type: 'strict' })).toEqual([5, 2, 1]);
  });

  test('without an order take the steps as they come', async () => {
    // bob has all three, zoe one
    expect(await counts({ funnel_order_type: 'unordered' })).toEqual([6, 4, 3]);
    const shown = await ask({ funnel_order_type: 'unordered', funnel_window_interval_unit: 'minute' });
    expect(shown.map((step) => 'count' in step && step.count)).toEqual([6, 3, 1]);
  });

  test('drop who did what is excluded between two steps', async () => {
    const help = { id: 'help', type: 'events', funnel_from_step: 0, funnel_to_step: 1 };
    expect(await counts({ exclusions: [help] })).toEqual([4, 3, 1]);
    // Help came before the second step, and so not between it and the third.
    expect(await counts({ exclusions: [{ ...help, funnel_from_step: 1, funnel_to_step: 2 }] })).toEqual([
      5, 4, 2,
    ]);
    const cart = { ...help, id: 'cart', funnel_to_step: 2 };
    expect(await counts({ exclusions: [cart, help] })).toEqual([1, 0, 0]);
  });

  test('need two events for the same step twice, and one for two steps that both hold for it', async () => {
    const twice = await createLab(db());
    await twice.api.send(
      did('one', 'view', '01-05 10:00', { page: 'a' }),
      did('two', 'view', '01-05 10:00', { page: 'a' }),
      did('two', 'view', '01-05 10:01', { page: 'b' }),
      // two events of the same moment are no sequence of one step
      did('tie', 'view', '01-05 10:00', { page: 'a' }),
      did('tie', 'view', '01-05 10:00', { page: 'b' }),
    );
    const of = async (events: readonly JsonObject[], more: JsonObject = {}) =>
      ((await twice.compute('FUNNELS', { events, ...more })) as FunnelSteps).map(
        (step) => 'count' in step && step.count,
      );
    expect(await of(steps('view', 'view'))).toEqual([3, 1]);
    expect(await of(steps('view', 'view', 'view'))).toEqual([3, 1, 0]);
    const onA = { id: 'view', order: 1, properties: [{ key: 'page', value: 'a', type: 'event' }] };
    expect(await of([{ id: 'view', order: 0 }, onA])).toEqual([3, 3]);
    expect(await of(steps('view', 'view'), { funnel_order_type: 'strict' })).toEqual([3, 2]);
  });

  test('take the furthest of several goes, and the earliest of these', async () => {
    const again = await createLab(db());
    await again.api.send(
      did('ann', 'view', '01-01 10:00'),
      did('ann', 'view', '01-05 10:00'),
      did('ann', 'view', '01-05 10:20'),
      did('ann', 'cart', '01-05 10:30'),
      did('ann', 'view', '01-06 10:00'),
      did('ann', 'cart', '01-06 10:10'),
    );
    const filters = { events: steps('view', 'cart'), funnel_window_interval: 1 };
    const shown = await again.compute('FUNNELS', { ...filters, date_from: '2024-01-01' });
    expect(shown).toMatchObject([{ count: 1 }, { count: 1, average_conversion_time: 1800 }]);
  });

  const byValue = async (filters: JsonObject) => {
    const shown = (await ask(filters)) as readonly (readonly FunnelStep[])[];
    return shown.map((one) => [one[0]?.breakdown_value, one.map(({ count }) => count)]);
  };

  test('break down by the first value that a step event has, people without one last among equals', async () => {
    expect(await byValue({ breakdown: '$browser' })).toEqual([
      [['Chrome'], [2, 2, 2]],
      [[''], [2, 1, 0]],
      [['Firefox'], [1, 1, 0]],
    ]);
    expect(await byValue({ breakdown: '$browser', breakdown_attribution_type: 'last_touch' })).toEqual([
      [[''], [2, 1, 0]],
      [['Chrome'], [1, 1, 1]],
      [['Firefox'], [1, 1, 0]],
      [['Safari'], [1, 1, 1]],
    ]);
  });

  test('add the values beyond the limit of a breakdown up', async () => {
    expect(await byValue({ breakdown: '$browser', breakdown_limit: 1 })).toEqual([
      [['Chrome'], [2, 2, 2]],
      [['Other'], [3, 2, 0]],
    ]);
    const hide = { breakdown_limit: 1, breakdown_hide_other_aggregation: true };
    expect(await byValue({ breakdown: '$browser', ...hide })).toEqual([[['Chrome'], [2, 2, 2]]]);
  });

  test('look only at their range and filters', async () => {
    expect(await counts({ date_from: '2024-01-06' })).toEqual([2, 1, 0]);
    expect(await counts({ date_to: '2024-01-09' })).toEqual([5, 4, 1]);
    expect(await counts({ properties: [{ key: '$browser', value: 'Chrome', type: 'event' }] })).toEqual([
      1, 0, 0,
    ]);
    const chrome = [{ key: '$browser', value: 'Chrome', type: 'event' }];
    const [view, cart] = steps('view', 'cart');
    expect(await counts({ events: [{ ...view, properties: chrome }, cart] })).toEqual([1, 1]);
  });

  test('of a project without events are zero', async () => {
    const empty = await createLab(db());
    for (const funnel_order_type of ['ordered', 'strict', 'unordered']) {
      const filters = { events: steps('a', 'b'), funnel_order_type };
      expect(await empty.compute('FUNNELS', filters)).toMatchObject([
        { count: 0, average_conversion_time: null },
        { count: 0, average_conversion_time: null },
      ]);
      expect(await empty.compute('FUNNELS', { ...filters, breakdown: 'x' })).toEqual([]);
    }
  });

  test('may have twenty steps', async () => {
    const long = await createLab(db());
    const names = Array.from({ length: 20 }, (_, step) => `step ${step}`);
    await long.api.send(
      ...names.map((name, step) => did('ann', name, `01-05 10:${String(step).padStart(2, '0')}`)),
    );
    for (const funnel_order_type of ['ordered', 'strict', 'unordered']) {
      const shown = (await long.compute('FUNNELS', {
        events: steps(...names),
        funnel_order_type,
      })) as FunnelSteps;
      expect(shown.map((step) => 'count' in step && step.count)).toEqual(names.map(() => 1));
    }
  });
});
