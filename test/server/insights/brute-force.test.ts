import { beforeAll, expect, test } from 'vitest';
import type { FunnelStep } from '../../../src/server/insights/funnel/model.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { createLab, did, type Lab } from './lab.ts';

/**
 * Many people with few events of few names at few moments, so that everything coincides that can. The same
 * is asked of the database, and worked out here the slow and simple way.
 */
const PEOPLE = 250;
const NAMES = ['a', 'b', 'c', 'x'];
const MINUTES = 12;
const WINDOW = 6;

interface Happened {
  readonly name: string;
  readonly minute: number;
}

/** Always the same numbers: a failure can be looked into. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const random = createRandom(20_240_110);
const people = Array.from({ length: PEOPLE }, (_, index) => ({
  id: `p${index}`,
  events: Array.from(
    { length: 1 + random(9) },
    (): Happened => ({ name: NAMES[random(NAMES.length)] ?? '', minute: random(MINUTES) }),
  ),
}));

interface Rules {
  readonly steps: readonly string[];
  readonly exclusion?: { readonly from: number; readonly to: number };
}

/** The furthest that somebody comes in one go, from any event of the first step. */
function furthest(events: readonly Happened[], { steps, exclusion }: Rules): number {
  const goes = events
    .filter(({ name }) => name === steps[0])
    .map(({ minute: start }) => {
      const times = [start];
      for (const [index, step] of steps.entries()) {
        if (index === 0) continue;
        const before = times.at(-1) ?? 0;
        const isAgain = step === steps[index - 1];
        const later = events
          .filter(({ name, minute }) => name === step && (isAgain ? minute > before : minute >= before))
          .map(({ minute }) => minute)
          .sort((a, b) => a - b);
        const [next] = later;
        if (next === undefined || next > start + WINDOW) break;
        times.push(next);
      }
      const from = exclusion && times[exclusion.from];
      const until = exclusion && Math.min(times[exclusion.to] ?? Infinity, start + WINDOW);
      const isBarred =
        from !== undefined &&
        until !== undefined &&
        events.some(({ name, minute }) => name === 'x' && minute > from && minute < until);
      return isBarred ? 0 : times.length;
    });
  return Math.max(0, ...goes);
}

/** The most steps that come within the window of any of them. */
function together(events: readonly Happened[], steps: readonly string[]): number {
  const goes = events
    .filter(({ name }) => steps.includes(name))
    .map(
      ({ minute: start }) =>
        steps.filter((step) =>
          events.some(({ name, minute }) => name === step && minute >= start && minute <= start + WINDOW),
        ).length,
    );
  return Math.max(0, ...goes);
}

const clock = (minute: number) => `01-05 10:${String(minute).padStart(2, '0')}`;

onEveryDatabase('what the database counts', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
    await lab.api.send(
      ...people.flatMap(({ id, events }) =>
        events.map(({ name, minute }) => did(id, name, clock(minute), { who: id })),
      ),
    );
  });

  /** By person: the steps that the database says they reached. */
  async function reached(filters: object): Promise<Map<string, number>> {
    const result = (await lab.compute('FUNNELS', {
      ...filters,
      breakdown: 'who',
      breakdown_limit: 1000,
      funnel_window_interval: WINDOW,
      funnel_window_interval_unit: 'minute',
    })) as readonly (readonly FunnelStep[])[];
    return new Map(
      result.map((steps) => [
        steps[0]?.breakdown_value?.[0] ?? '',
        steps.filter(({ count }) => count > 0).length,
      ]),
    );
  }

  const expected = (count: (events: readonly Happened[]) => number) =>
    new Map(people.map(({ id, events }) => [id, count(events)] as const).filter(([, steps]) => steps > 0));

  const events = (steps: readonly string[]) => steps.map((id, order) => ({ id, order }));

  test.each([
    [['a', 'b']],
    [['a', 'b', 'c']],
    [['a', 'a']],
    [['a', 'a', 'a']],
    [['a', 'b', 'a']],
    [['b', 'b', 'a', 'c']],
  ])('of the funnel %j is what everybody did', async (steps) => {
    expect(await reached({ events: events(steps) })).toEqual(expected((all) => furthest(all, { steps })));
  });

  test.each([
    [['a', 'b'], 0, 1],
    [['a', 'b', 'c'], 0, 1],
    [['a', 'b', 'c'], 1, 2],
    [['a', 'b', 'c'], 0, 2],
    [['a', 'a', 'b'], 1, 2],
  ])('of the funnel %j without x between steps %i and %i is what everybody did', async (steps, from, to) => {
    const exclusions = [{ id: 'x', funnel_from_step: from, funnel_to_step: to }];
    expect(await reached({ events: events(steps), exclusions })).toEqual(
      expected((all) => furthest(all, { steps, exclusion: { from, to } })),
    );
  });

  test.each([[['a', 'b']], [['c', 'b', 'a']], [['a', 'b', 'c', 'x']]])(
    'of the steps %j in any order is what everybody did',
    async (steps) => {
      expect(await reached({ events: events(steps), funnel_order_type: 'unordered' })).toEqual(
        expected((all) => together(all, steps)),
      );
    },
  );

  test.each([
    ['weekly_active', 7],
    ['monthly_active', 30],
  ])('as %s is who was there', async (math, days) => {
    const random2 = createRandom(7);
    const active = Array.from({ length: 40 }, (_, person) =>
      Array.from({ length: 4 }, () => ({ person, day: random2(60) })),
    ).flat();
    const long = await createLab(db());
    const start = Date.parse('2023-11-12T00:00:00Z');
    const day = 86_400_000;
    await long.api.send(
      ...active.map((one) => ({
        event: 'a',
        timestamp: new Date(start + one.day * day + 3_600_000).toISOString(),
        properties: { distinct_id: `p${one.person}` },
      })),
    );
    const [shown] = await long.compute('TRENDS', {
      events: [{ id: 'a', math }],
      date_from: '2023-11-20',
      date_to: '2024-01-20',
    });
    const wanted = Array.from({ length: 62 }, (_, index) => {
      const today = index + 8;
      const there = active.filter((one) => one.day <= today && one.day > today - days);
      return new Set(there.map(({ person }) => person)).size;
    });
    expect(shown?.data).toEqual(wanted);
  });
});
