import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Db } from '../../../src/server/database/db.ts';
import type { FunnelStep } from '../../../src/server/insights/funnel/model.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { type ActorLab, createActorLab, type Listed } from './actor-lab.ts';
import { FIRST_DAY, type Happened, histories, NAMES, type Somebody } from './history.ts';
import {
  activeIn,
  bestAttempt,
  doers,
  type FunnelRules,
  type Interval,
  inLifecycle,
  listAttempts,
  listPaths,
  listStarts,
  next,
  type Range,
  reachedSteps,
  retained,
  startOf,
  touchedPlan,
} from './reference.ts';

/*
 * Every number of persons that an insight shows is as long as its list, and both are what a simple program
 * counts (reference.ts), over histories in which everything coincides that can.
 */

/** Histories for each kind of insight. BACKHAUL_TEST_HISTORIES=500 tries thousands in all. */
const RUNS = Number(process.env['BACKHAUL_TEST_HISTORIES'] ?? 15);

const DAY = 86_400_000;
const day = (time: number) => new Date(time).toISOString().slice(0, 10);
const names = fc.constantFrom(...NAMES);

const ranges = fc
  .record({
    first: fc.nat(16),
    days: fc.nat(16),
    interval: fc.constantFrom<Interval>('day', 'week', 'month'),
  })
  .map(({ first, days, interval }) => {
    const start = FIRST_DAY + first * DAY;
    const last = start + days * DAY;
    return {
      filters: { date_from: day(start), date_to: day(last), interval },
      range: { from: startOf(start, interval), until: last + DAY, interval } satisfies Range,
    };
  });

const span = { range: ranges, seed: fc.nat() };

const OTHER = '$$_breakdown_other_$$';
const LOOK_BACK: ReadonlyMap<string, number> = new Map([
  ['weekly_active', 7 * DAY],
  ['monthly_active', 30 * DAY],
]);

const idsOf = (listed: readonly Listed[]) => listed.map(({ id }) => id).sort();

/** Which numbers of an insight the lists are compared for: all of them would take too long. */
function pick<T>(numbers: readonly T[], seed: number, count = 3): T[] {
  return Array.from({ length: Math.min(count, numbers.length) }, (_, index) => {
    const place = (seed + index * 7919) % numbers.length;
    return numbers[place];
  }).flatMap((number) => (number === undefined ? [] : [number]));
}

onEveryDatabase('the list behind a number', (db) => {
  describe('is as long as the number says, and holds whom it counts', { timeout: 3_600_000 }, () => {
    test('of a lifecycle', () =>
      holds(
        db,
        fc.record({ name: names, ...span }),
        async (lab, people, { name, range: { filters, range }, seed }) => {
          const asked = { ...filters, events: [{ id: name }] };
          const shown = await lab.compute('LIFECYCLE', asked);
          const starts = listStarts(range);
          const numbers = shown.flatMap(({ status, data }) =>
            data.map((count, index) => ({ status, count: Math.abs(count), start: starts[index] ?? 0 })),
          );
          expect(numbers.map(({ count }) => count)).toEqual(
            numbers.map(({ status, start }) => inLifecycle(people, name, range, status, start).length),
          );
          for (const { status, start } of pick(
            numbers.filter(({ count }) => count > 0),
            seed,
          )) {
            const point = { lifecycle_type: status, target_date: new Date(start).toISOString() };
            expect(idsOf(await lab.list('lifecycle', { ...asked, ...point }))).toEqual(
              inLifecycle(people, name, range, status, start),
            );
          }
        },
      ));

    test('of a stickiness', () =>
      holds(
        db,
        fc.record({ name: names, ...span }),
        async (lab, people, { name, range: { filters, range }, seed }) => {
          const asked = { ...filters, events: [{ id: name }] };
          const [shown] = await lab.compute('STICKINESS', asked);
          const days = shown?.days ?? [];
          expect(shown?.data).toEqual(days.map((count) => activeIn(people, name, range, count).length));
          for (const stickiness_days of [1, ...pick(days, seed, 2)]) {
            const point = { entity_id: name, entity_type: 'events', stickiness_days };
            expect(idsOf(await lab.list('stickiness', { ...asked, ...point }))).toEqual(
              activeIn(people, name, range, stickiness_days),
            );
          }
        },
      ));

    const periods = fc.constantFrom<Interval>('hour', 'day', 'week', 'month');
    const retentions = fc.record({
      target: names,
      returning: names,
      period: periods,
      total: fc.integer({ min: 1, max: 8 }),
      firstTime: fc.boolean(),
      last: fc.nat(17),
      seed: fc.nat(),
    });
    test('of a retention', () =>
      holds(
        db,
        retentions,
        async (lab, people, { target, returning, period, total, firstTime, last, seed }) => {
          const end = startOf(FIRST_DAY + last * DAY, period);
          const range = { from: next(end, period, 1 - total), until: next(end, period), interval: period };
          const asked = {
            target_entity: { id: target },
            returning_entity: { id: returning },
            period: `${period.charAt(0).toUpperCase()}${period.slice(1)}`,
            total_intervals: total,
            retention_type: firstTime ? 'retention_first_time' : 'retention_recurring',
            date_to: new Date(FIRST_DAY + last * DAY).toISOString(),
          };
          const rules = { target, returning, firstTime, range };
          const shown = await lab.compute('RETENTION', asked);
          expect(shown.map(({ values }) => values.map(({ count }) => count))).toEqual(
            listStarts(range).map((_, row) => {
              const all = [...retained(people, rules, row).values()];
              return Array.from(
                { length: total - row },
                (__, later) => all.filter((one) => one[later] === 1).length,
              );
            }),
          );
          const rows = shown.map((_, row) => row);
          const filled = rows.filter((row) => (shown[row]?.values[0]?.count ?? 0) > 0);
          for (const selected_interval of pick(filled, seed, 2)) {
            const listed = await lab.list('retention', { ...asked, selected_interval });
            expect(new Map(listed.map(({ id, appearances }) => [id, appearances]))).toEqual(
              retained(people, rules, selected_interval),
            );
          }
        },
      ));

    const funnels = fc.record({
      steps: fc.array(names, { minLength: 2, maxLength: 4 }),
      order: fc.constantFrom<FunnelRules['order']>('ordered', 'strict', 'unordered'),
      window: fc.constantFrom(
        { count: 1, unit: 'minute', ms: 60_000 },
        { count: 12, unit: 'hour', ms: DAY / 2 },
        { count: 1, unit: 'day', ms: DAY },
        { count: 1, unit: 'week', ms: 7 * DAY },
      ),
      isBarred: fc.boolean(),
      attribution: fc.constantFrom(undefined, 'first_touch', 'last_touch'),
      limit: fc.integer({ min: 1, max: 3 }),
      seed: fc.nat(),
    });
    test('of a funnel', () =>
      holds(
        db,
        funnels,
        async (lab, people, { steps, order, window, isBarred, attribution, limit, seed }) => {
          const own = order === 'unordered' ? [...new Set(steps)] : steps;
          if (own.length < 2) return;
          const bars = isBarred && order === 'ordered';
          const asked = {
            events: own.map((id, index) => ({ id, order: index })),
            date_from: day(FIRST_DAY),
            funnel_order_type: order,
            funnel_window_interval: window.count,
            funnel_window_interval_unit: window.unit,
            ...(bars ? { exclusions: [{ id: 'c', funnel_from_step: 0, funnel_to_step: 1 }] } : {}),
            ...(attribution
              ? { breakdown: 'plan', breakdown_attribution_type: attribution, breakdown_limit: limit }
              : {}),
          };
          const rules = {
            steps: own,
            order,
            window: window.ms,
            ...(bars ? { exclusion: { name: 'c', from: 0, to: 1 } } : {}),
          };
          const reached = new Map(people.map(({ id, events }) => [id, reachedSteps(events, rules)]));
          const plans = new Map(
            people.map(({ id, events }) => [id, touchedPlan(events, own, attribution === 'last_touch')]),
          );
          const result = await lab.compute('FUNNELS', asked);
          const funnelsShown = (attribution ? result : [result]) as readonly (readonly FunnelStep[])[];
          const values = funnelsShown.map(([first]) => first?.breakdown_value?.[0]);
          const named = values.filter((value) => value !== 'Other');
          const isOf = (id: string, value: string | undefined) =>
            value === undefined ||
            (value === 'Other' ? !named.includes(plans.get(id)) : plans.get(id) === value);
          const whoReached = (value: string | undefined, holds: (count: number) => boolean) =>
            people
              .map(({ id }) => id)
              .filter((id) => isOf(id, value) && (reached.get(id) ?? 0) > 0 && holds(reached.get(id) ?? 0))
              .sort();
          for (const [index, funnel] of funnelsShown.entries()) {
            expect(funnel.map(({ count }) => count)).toEqual(
              own.map((_, step) => whoReached(values[index], (count) => count > step).length),
            );
          }
          const numbers = values.flatMap((value) => own.map((_, index) => ({ value, step: index + 1 })));
          for (const { value, step } of pick(numbers, seed)) {
            const point =
              value === undefined ? {} : { funnel_step_breakdown: value === 'Other' ? OTHER : value };
            const list = async (more: object) =>
              idsOf(await lab.list('funnel', { ...asked, ...point, ...more }));
            expect(await list({ funnel_step: step })).toEqual(whoReached(value, (count) => count >= step));
            if (step > 1) {
              expect(await list({ funnel_step: -step })).toEqual(
                whoReached(value, (count) => count === step - 1),
              );
            }
            expect(await list({ funnel_custom_steps: [step] })).toEqual(
              whoReached(value, (count) => count === step),
            );
          }
        },
      ));

    const overTime = fc.record({
      steps: fc.constantFrom(['a', 'b'], ['b', 'a', 'c'], ['a', 'a']),
      order: fc.constantFrom<FunnelRules['order']>('ordered', 'strict'),
      window: fc.constantFrom({ count: 1, unit: 'day', ms: DAY }, { count: 1, unit: 'week', ms: 7 * DAY }),
      isLost: fc.boolean(),
      ...span,
    });
    test('of a funnel over time', () =>
      holds(
        db,
        overTime,
        async (lab, people, { steps, order, window, isLost, range: { filters, range }, seed }) => {
          const rules = { steps, order, window: window.ms };
          for (const start of pick(listStarts(range), seed, 2)) {
            const wanted = people.filter(({ events }) => {
              const own = events.filter(({ at }) => at >= range.from && at < range.until);
              const all = listAttempts(own, rules).filter(
                ([first]) => first !== undefined && startOf(first, range.interval) === start,
              );
              const most = Math.max(0, ...all.map(({ length }) => length));
              return isLost ? most > 0 && most < steps.length : most === steps.length;
            });
            const listed = await lab.list('funnel', {
              ...filters,
              events: steps.map((id, index) => ({ id, order: index })),
              funnel_order_type: order,
              funnel_window_interval: window.count,
              funnel_window_interval_unit: window.unit,
              funnel_viz_type: 'trends',
              entrance_period_start: new Date(start).toISOString(),
              drop_off: isLost,
            });
            expect(idsOf(listed)).toEqual(wanted.map(({ id }) => id).sort());
          }
        },
      ));

    const correlations = fc.record({
      steps: fc.constantFrom(['a', 'b'], ['b', 'a'], ['a', 'a']),
      order: fc.constantFrom<FunnelRules['order']>('ordered', 'unordered', 'strict'),
      window: fc.constantFrom(
        { count: 2, unit: 'minute', ms: 120_000 },
        { count: 1, unit: 'day', ms: DAY },
        { count: 1, unit: 'week', ms: 7 * DAY },
      ),
      converted: fc.constantFrom(undefined, true, false),
      plan: fc.constantFrom(undefined, 'x'),
    });
    test('of a correlation', () =>
      holds(db, correlations, async (lab, people, { steps, order, window, converted, plan }) => {
        const own = order === 'unordered' ? [...new Set(steps)] : steps;
        if (own.length < 2) return;
        const rules = { steps: own, order, window: window.ms };
        const wanted = people.filter(({ events }) => {
          const times = bestAttempt(events, rules);
          const [first] = times;
          if (first === undefined) return false;
          const isThrough = times.length === own.length;
          if (converted !== undefined && isThrough !== converted) return false;
          const end = isThrough ? (times.at(-1) ?? 0) : first + window.ms;
          return events.some(
            (event) =>
              event.name === 'c' &&
              event.at > first &&
              event.at < end &&
              (plan === undefined || event.plan === plan),
          );
        });
        const listed = await lab.list('funnel/correlation', {
          events: own.map((id, index) => ({ id, order: index })),
          date_from: day(FIRST_DAY),
          funnel_order_type: order,
          funnel_window_interval: window.count,
          funnel_window_interval_unit: window.unit,
          funnel_correlation_person_converted: converted,
          funnel_correlation_person_entity: {
            id: 'c',
            ...(plan === undefined ? {} : { properties: [{ key: 'plan', value: plan }] }),
          },
        });
        expect(idsOf(listed)).toEqual(wanted.map(({ id }) => id).sort());
      }));

    const pathsAsked = fc.record({
      stepLimit: fc.integer({ min: 2, max: 4 }),
      startPoint: fc.option(names, { nil: undefined }),
      endPoint: fc.option(names, { nil: undefined }),
      seed: fc.nat(),
    });
    test('of paths', () =>
      holds(db, pathsAsked, async (lab, people, { seed, ...given }) => {
        const rules = given.startPoint === undefined ? given : { ...given, endPoint: undefined };
        const asked = {
          include_event_types: ['custom_event'],
          date_from: day(FIRST_DAY),
          step_limit: rules.stepLimit,
          start_point: rules.startPoint,
          end_point: rules.endPoint,
        };
        const paths = people.map(({ id, events }) => ({
          id,
          all: listPaths(events, rules).map((path) => path.map((name, index) => `${index + 1}_${name}`)),
        }));
        const whoHas = (holdsFor: (path: string[]) => boolean) =>
          paths
            .filter(({ all }) => all.some(holdsFor))
            .map(({ id }) => id)
            .sort();
        const shown = await lab.compute('PATHS', asked);
        const hasEdge = (source: string, target: string) => (path: string[]) =>
          path.some((item, index) => item === source && path[index + 1] === target);
        for (const { source, target, value } of shown) {
          expect(value).toBe(paths.flatMap(({ all }) => all).filter(hasEdge(source, target)).length);
        }
        const list = async (more: object) => idsOf(await lab.list('path', { ...asked, ...more }));
        expect(await list({})).toEqual(whoHas((path) => path.length > 0));
        for (const { source, target } of pick(shown, seed, 2)) {
          const both = { path_start_key: source, path_end_key: target };
          expect(await list(both)).toEqual(whoHas(hasEdge(source, target)));
          expect(await list({ path_start_key: source })).toEqual(
            whoHas((path) => path.indexOf(source) !== -1 && path.at(-1) !== source),
          );
          expect(await list({ path_end_key: target })).toEqual(whoHas((path) => path.indexOf(target) > 0));
          expect(await list({ path_dropoff_key: target })).toEqual(whoHas((path) => path.at(-1) === target));
        }
      }));

    const trends = fc.record({
      name: names,
      math: fc.constantFrom(
        'total',
        'dau',
        'weekly_active',
        'monthly_active',
        'sum',
        'max',
        'unique_session',
      ),
      display: fc.constantFrom('ActionsLineGraph', 'ActionsLineGraphCumulative', 'BoldNumber'),
      isBroken: fc.boolean(),
      limit: fc.integer({ min: 1, max: 3 }),
      ...span,
    });
    test('of a trend', () =>
      holds(db, trends, async (lab, people, { name, math, display, isBroken, limit, range: given, seed }) => {
        const { filters, range } = given;
        const asked = {
          ...filters,
          display,
          events: [{ id: name, math, math_property: 'amount' }],
          ...(isBroken ? { breakdown: 'plan', breakdown_limit: limit } : {}),
        };
        const shown = await lab.compute('TRENDS', asked);
        const values = shown.map(({ breakdown_value: value }) => value);
        const named = values.filter((value) => value !== OTHER);
        const isOne = display === 'BoldNumber';
        const starts = isOne ? [range.from] : listStarts(range);
        const numbers = shown.flatMap(({ breakdown_value: value, data, aggregated_value: total }) =>
          (isOne ? [total ?? 0] : data).map((count, index) => ({ value, count, start: starts[index] ?? 0 })),
        );
        const look = LOOK_BACK.get(math);
        const who = ({ value, start }: { value: string | undefined; start: number }) => {
          const end = isOne ? range.until : next(start, range.interval);
          const from =
            display === 'ActionsLineGraphCumulative' && math === 'dau'
              ? range.from
              : look === undefined
                ? start
                : end - look;
          const isOf = (plan: string) =>
            value === undefined || (value === OTHER ? !named.includes(plan) : plan === value);
          return doers(people, name, { from, until: Math.min(end, range.until) }, isOf);
        };
        if (look !== undefined || math === 'dau') {
          const isSummed = display === 'ActionsLineGraphCumulative' && math !== 'dau';
          if (!isSummed) {
            expect(numbers.map(({ count }) => count)).toEqual(numbers.map((number) => who(number).size));
          }
        }
        for (const number of pick(numbers, seed)) {
          const point = {
            entity_id: name,
            entity_type: 'events',
            entity_order: 0,
            ...(isOne ? {} : { target_date: new Date(number.start).toISOString() }),
            ...(number.value === undefined ? {} : { breakdown_value: number.value }),
          };
          const listed = await lab.list('trends', { ...asked, ...point });
          const wanted = who(number);
          expect(new Map(listed.map(({ id, value }) => [id, value]))).toEqual(
            new Map([...wanted].map(([id, events]) => [id, measure(math, events)])),
          );
          const order = listed.map(({ value }) => value ?? 0);
          expect(order).toEqual([...order].sort((one, other) => other - one));
        }
      }));
  });
});

function measure(math: string, events: readonly Happened[]): number {
  const amounts = events.map(({ amount }) => amount);
  if (math === 'sum') return amounts.reduce((sum, amount) => sum + amount, 0);
  if (math === 'max') return Math.max(...amounts);
  return math === 'unique_session' ? 0 : events.length;
}

async function holds<Q>(
  db: () => Db,
  questions: fc.Arbitrary<Q>,
  check: (lab: ActorLab, people: readonly Somebody[], question: Q) => Promise<void>,
): Promise<void> {
  // One API for all histories: each that is made takes a megabyte until the process ends.
  let lab: ActorLab | undefined;
  const property = fc.asyncProperty(
    histories,
    fc.array(questions, { minLength: 1, maxLength: 4 }),
    async (people, asked) => {
      lab = await createActorLab(db(), people, lab);
      for (const question of asked) await check(lab, people, question);
    },
  );
  await fc.assert(property, { numRuns: RUNS });
}
