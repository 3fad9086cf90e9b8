import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Db } from '../../../src/server/database/db.ts';
import type { FunnelRates, FunnelStep, FunnelTimes } from '../../../src/server/insights/funnel/model.ts';
import { onEveryDatabase } from '../../support/databases.ts';
import { type ActionStep, actionSteps, markEvents, toSteps } from './action-kit.ts';
import { type ActorLab, createActorLab, type Listed } from './actor-lab.ts';
import { FIRST_DAY, type Happened, histories, NAMES, type Somebody, teamOf } from './history.ts';
import {
  ACTION,
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
  sessionLength,
  startOf,
  touchedValue,
} from './reference.ts';

/*
 * Every number of persons that an insight shows is as long as its list, and both are what a simple program
 * counts (reference.ts), over histories in which everything coincides that can.
 */

/** Histories for each kind of insight. BACKHAUL_TEST_HISTORIES=500 tries thousands in all. */
const RUNS = Number(process.env['BACKHAUL_TEST_HISTORIES'] ?? 15);

const DAY = 86_400_000;
const day = (time: number) => new Date(time).toISOString().slice(0, 10);
/** Of an event, or of the action that a history is tried with. */
const names = fc.constantFrom(...NAMES, ACTION);

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

/** The action of the last lab. */
let action: { readonly id: number; readonly steps: readonly ActionStep[] } = { id: 0, steps: [] };

const entityOf = (name: string) => (name === ACTION ? { id: action.id, type: 'actions' } : { id: name });

const targetOf = (name: string) => {
  const { id, type = 'events' } = { type: undefined, ...entityOf(name) };
  return { entity_id: id, entity_type: type };
};

/** What numbers are broken down by: of an event, its session, or its person. */
const breakdowns = fc.constantFrom(undefined, 'plan', 'session', 'team', 'cohort');
type By = undefined | 'plan' | 'session' | 'team' | 'cohort';

/** Ids of the two cohorts of the last lab that was asked by cohorts. */
let cohorts: readonly number[] = [];

/** The first half of all, and every second one; without a person nobody is in a cohort. */
const isIn = ({ id, kind }: Somebody, index: number) =>
  kind !== 'robot' && (index === 0 ? Number(id.slice(1)) < 3 : Number(id.slice(1)) % 2 === 0);

const valuesOfPerson = (somebody: Somebody): (number | string)[] => [
  ...cohorts.filter((_, index) => isIn(somebody, index)),
  'all',
];

/** The values that an event has. */
function valuesOf(
  by: By,
  event: Happened,
  somebody: Somebody,
  reach: Pick<Range, 'from' | 'until'>,
): (number | string)[] {
  if (by === 'cohort') return valuesOfPerson(somebody);
  if (by === 'team') return [teamOf(somebody)];
  return [by === 'session' ? sessionLength(event, somebody.events, reach) : event.plan];
}

/** The fields that break an insight down. Cohorts are made in the project of the lab. */
async function breakDown(lab: ActorLab, people: readonly Somebody[], by: By, limit: number): Promise<object> {
  if (by === undefined) return {};
  if (by === 'plan') return { breakdown: 'plan', breakdown_limit: limit };
  if (by === 'team') return { breakdown: 'team', breakdown_type: 'person', breakdown_limit: limit };
  if (by === 'session') {
    return { breakdown: '$session_duration', breakdown_type: 'session', breakdown_limit: limit };
  }
  const made = [0, 1].map((index) =>
    lab.makeCohort(people.filter((one) => isIn(one, index)).map(({ id }) => id)),
  );
  cohorts = await Promise.all(made);
  return { breakdown: [...cohorts, 'all'], breakdown_type: 'cohort' };
}

const isOneNumber = (display: string) => display === 'BoldNumber';

/** From when on the events of a trend are read. */
function toReach({ from, until, interval }: Range, look: number | undefined, isOne: boolean): number {
  if (look === undefined) return from;
  return (isOne ? until : next(startOf(from, interval), interval)) - look;
}

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
          const asked = { ...filters, events: [entityOf(name)] };
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
          const asked = { ...filters, events: [entityOf(name)] };
          const [shown] = await lab.compute('STICKINESS', asked);
          const days = shown?.days ?? [];
          expect(shown?.data).toEqual(days.map((count) => activeIn(people, name, range, count).length));
          for (const stickiness_days of [1, ...pick(days, seed, 2)]) {
            const point = { ...targetOf(name), stickiness_days };
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
      by: breakdowns,
      limit: fc.integer({ min: 1, max: 3 }),
      seed: fc.nat(),
    });
    test('of a retention', () =>
      holds(
        db,
        retentions,
        async (lab, people, { target, returning, period, total, firstTime, last, by, limit, seed }) => {
          const end = startOf(FIRST_DAY + last * DAY, period);
          const range = { from: next(end, period, 1 - total), until: next(end, period), interval: period };
          const asked = {
            target_entity: entityOf(target),
            returning_entity: entityOf(returning),
            period: `${period.charAt(0).toUpperCase()}${period.slice(1)}`,
            total_intervals: total,
            retention_type: firstTime ? 'retention_first_time' : 'retention_recurring',
            date_to: new Date(FIRST_DAY + last * DAY).toISOString(),
          };
          const broken = { ...asked, ...(await breakDown(lab, people, by, limit)) };
          const shown = await lab.compute('RETENTION', broken);
          const values = [...new Set(shown.map(({ breakdown_value: value }) => value))];
          const named = values.filter((value) => value !== OTHER);
          const reach = { ...range, from: firstTime ? -Infinity : range.from };
          const rulesOf = (value: string | number | undefined) => ({
            ...{ target, returning, firstTime, range },
            isWanted: (event: Happened, somebody: Somebody) => {
              const own = valuesOf(by, event, somebody, reach);
              return (
                value === undefined ||
                (value === OTHER ? !named.some((one) => own.includes(one ?? '')) : own.includes(value))
              );
            },
          });
          for (const value of values) {
            const rows = shown.filter((row) => row.breakdown_value === value);
            expect(rows.map((row) => row.values.map(({ count }) => count))).toEqual(
              listStarts(range).map((_, row) => {
                const all = [...retained(people, rulesOf(value), row).values()];
                return Array.from(
                  { length: total - row },
                  (__, later) => all.filter((one) => one[later] === 1).length,
                );
              }),
            );
            const filled = rows.flatMap((row, index) => ((row.values[0]?.count ?? 0) > 0 ? [index] : []));
            for (const selected_interval of pick(filled, seed, 2)) {
              const point = value === undefined ? {} : { breakdown_values: [value] };
              const listed = await lab.list('retention', { ...broken, ...point, selected_interval });
              expect(new Map(listed.map(({ id, appearances }) => [id, appearances]))).toEqual(
                retained(people, rulesOf(value), selected_interval),
              );
            }
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
      barred: fc.constantFrom('c', ACTION),
      attribution: fc.constantFrom('first_touch', 'last_touch'),
      by: breakdowns,
      limit: fc.integer({ min: 1, max: 3 }),
      seed: fc.nat(),
    });
    test('of a funnel', () =>
      holds(
        db,
        funnels,
        async (lab, people, { steps, order, window, isBarred, barred, attribution, by, limit, seed }) => {
          const own = order === 'unordered' ? [...new Set(steps)] : steps;
          if (own.length < 2) return;
          const bars = isBarred && order === 'ordered';
          const asked = {
            events: own.map((name, index) => ({ ...entityOf(name), order: index })),
            date_from: day(FIRST_DAY),
            funnel_order_type: order,
            funnel_window_interval: window.count,
            funnel_window_interval_unit: window.unit,
            ...(bars
              ? { exclusions: [{ ...entityOf(barred), funnel_from_step: 0, funnel_to_step: 1 }] }
              : {}),
            ...(await breakDown(lab, people, by, limit)),
            breakdown_attribution_type: attribution,
          };
          const rules = {
            steps: own,
            order,
            window: window.ms,
            ...(bars ? { exclusion: { name: barred, from: 0, to: 1 } } : {}),
          };
          const reached = new Map(people.map(({ id, events }) => [id, reachedSteps(events, rules)]));
          const all = { from: FIRST_DAY, until: Infinity };
          const ownValues = new Map(
            people.map((somebody): [string, readonly unknown[]] => {
              const isLast = attribution === 'last_touch';
              const toValue = (event: Happened) => String(valuesOf(by, event, somebody, all)[0]);
              return [
                somebody.id,
                by === 'cohort'
                  ? valuesOfPerson(somebody).map(String)
                  : [touchedValue(somebody.events, own, isLast, toValue)],
              ];
            }),
          );
          const result = await lab.compute('FUNNELS', asked);
          const funnelsShown = (by ? result : [result]) as readonly (readonly FunnelStep[])[];
          const values = funnelsShown.map(([first]) => first?.breakdown_value?.[0]);
          const named = values.filter((value) => value !== 'Other');
          const isOf = (id: string, value: string | undefined) =>
            value === undefined ||
            (value === 'Other'
              ? !named.some((one) => ownValues.get(id)?.includes(one))
              : ownValues.get(id)?.includes(value));
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
      steps: fc.constantFrom(['a', 'b'], ['b', 'a', 'c'], ['a', 'a'], ['a', ACTION]),
      order: fc.constantFrom<FunnelRules['order']>('ordered', 'strict'),
      window: fc.constantFrom({ count: 1, unit: 'day', ms: DAY }, { count: 1, unit: 'week', ms: 7 * DAY }),
      first: fc.nat(1),
      attribution: fc.constantFrom(undefined, 'first_touch', 'last_touch'),
      limit: fc.integer({ min: 1, max: 3 }),
      ...span,
    });
    test('of a funnel over time', () =>
      holds(db, overTime, async (lab, people, question) => {
        const { steps, order, window, first, attribution, limit, seed } = question;
        const { filters, range } = question.range;
        const to = steps.length - 1;
        const from = Math.min(first, to - 1);
        const asked = {
          ...filters,
          events: steps.map((name, index) => ({ ...entityOf(name), order: index })),
          funnel_order_type: order,
          funnel_window_interval: window.count,
          funnel_window_interval_unit: window.unit,
          funnel_viz_type: 'trends',
          funnel_from_step: from,
          ...(attribution
            ? { breakdown: 'plan', breakdown_attribution_type: attribution, breakdown_limit: limit }
            : {}),
        };
        const rules = { steps, order, window: window.ms };
        const within = people.map(({ id, events }) => ({
          id,
          events: events.filter(({ at }) => at >= range.from && at < range.until),
        }));
        const plans = new Map(
          within.map(({ id, events }) => [id, touchedValue(events, steps, attribution === 'last_touch')]),
        );
        const result = (await lab.compute('FUNNELS', asked)) as readonly FunnelRates[];
        const named = result.map(({ breakdown_value: value }) => value?.[0]);
        const who = (value: string | undefined, start: number, holdsFor: (most: number) => boolean) =>
          within
            .filter(({ id, events }) => {
              const plan = plans.get(id) ?? '';
              if (value === 'Other' ? named.includes(plan) : value !== undefined && plan !== value)
                return false;
              const all = listAttempts(events, rules).filter(
                ([began]) => began !== undefined && startOf(began, range.interval) === start,
              );
              return holdsFor(Math.max(0, ...all.map(({ length }) => length)));
            })
            .map(({ id }) => id)
            .sort();
        const starts = listStarts(range);
        for (const { breakdown_value: [value] = [], ...line } of result) {
          expect(line.reached_from_step_count).toEqual(
            starts.map((start) => who(value, start, (most) => most > from).length),
          );
          expect(line.reached_to_step_count).toEqual(
            starts.map((start) => who(value, start, (most) => most > to).length),
          );
          for (const start of pick(starts, seed, 2)) {
            for (const isLost of [true, false]) {
              const listed = await lab.list('funnel', {
                ...asked,
                ...(value === undefined ? {} : { funnel_step_breakdown: value === 'Other' ? OTHER : value }),
                entrance_period_start: new Date(start).toISOString(),
                drop_off: isLost,
              });
              expect(idsOf(listed)).toEqual(
                who(value, start, (most) => (isLost ? most > from && most <= to : most > to)),
              );
            }
          }
        }
      }));

    const times = fc.record({
      steps: fc.constantFrom(['a', 'b'], ['b', 'a', 'c'], ['a', 'a'], ['a', ACTION]),
      order: fc.constantFrom<FunnelRules['order']>('ordered', 'strict', 'unordered'),
      bins: fc.constantFrom(undefined, 1, 3, 90),
      first: fc.nat(1),
    });
    test('of times to convert', () =>
      holds(db, times, async (lab, people, { steps, order, bins, first }) => {
        const own = order === 'unordered' ? [...new Set(steps)] : steps;
        if (own.length < 2) return;
        const to = own.length - 1;
        const from = Math.min(first, to - 1);
        const asked = {
          events: own.map((name, index) => ({ ...entityOf(name), order: index })),
          date_from: day(FIRST_DAY),
          funnel_order_type: order,
          funnel_viz_type: 'time_to_convert',
          funnel_from_step: from,
          bin_count: bins,
        };
        const took = new Map(
          people.flatMap(({ id, events }): [string, number][] => {
            const at = bestAttempt(events, { steps: own, order, window: 14 * DAY });
            const [start, end] = [at[from], at[to]];
            return start === undefined || end === undefined ? [] : [[id, (end - start) / 1000]];
          }),
        );
        const shown = (await lab.compute('FUNNELS', asked)) as FunnelTimes;
        const all = [...took.values()];
        expect(shown.bins.reduce((sum, [, persons]) => sum + persons, 0)).toBe(took.size);
        if (bins !== undefined) expect(shown.bins.length).toBeLessThanOrEqual(bins + 1);
        expect(shown.average_conversion_time ?? 0).toBeCloseTo(
          all.reduce((sum, seconds) => sum + seconds, 0) / Math.max(1, all.length),
          3,
        );
        expect(idsOf(await lab.list('funnel', asked))).toEqual([...took.keys()].sort());
        for (const [low, persons] of shown.bins.filter(([, count]) => count > 0)) {
          const edges = { funnel_time_from: low, funnel_time_until: low + shown.bin_width };
          const listed = await lab.list('funnel', { ...asked, ...edges });
          expect(listed).toHaveLength(persons);
          expect(idsOf(listed)).toEqual(
            [...took]
              .filter(([, seconds]) => seconds >= low && seconds < low + shown.bin_width)
              .map(([id]) => id)
              .sort(),
          );
        }
      }));

    const correlations = fc.record({
      steps: fc.constantFrom(['a', 'b'], ['b', 'a'], ['a', 'a'], ['a', ACTION]),
      entity: fc.constantFrom('c', ACTION),
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
      holds(db, correlations, async (lab, people, { steps, order, window, entity, converted, plan }) => {
        const own = order === 'unordered' ? [...new Set(steps)] : steps;
        if (own.length < 2) return;
        const rules = { steps: own, order, window: window.ms };
        const stepNames = own.flatMap((name) =>
          name === ACTION ? action.steps.map((step) => step.name) : [name],
        );
        const wanted = people.filter(({ events }) => {
          const times = bestAttempt(events, rules);
          const [first] = times;
          if (first === undefined) return false;
          const isThrough = times.length === own.length;
          if (converted !== undefined && isThrough !== converted) return false;
          const end = isThrough ? (times.at(-1) ?? 0) : first + window.ms;
          return events.some(
            (event) =>
              (entity === ACTION ? event.isOfAction === true : event.name === entity) &&
              !stepNames.includes(event.name) &&
              event.at > first &&
              event.at < end &&
              (plan === undefined || event.plan === plan),
          );
        });
        const listed = await lab.list('funnel/correlation', {
          events: own.map((name, index) => ({ ...entityOf(name), order: index })),
          date_from: day(FIRST_DAY),
          funnel_order_type: order,
          funnel_window_interval: window.count,
          funnel_window_interval_unit: window.unit,
          funnel_correlation_person_converted: converted,
          funnel_correlation_person_entity: {
            ...entityOf(entity),
            ...(plan === undefined ? {} : { properties: [{ key: 'plan', value: plan }] }),
          },
        });
        expect(idsOf(listed)).toEqual(wanted.map(({ id }) => id).sort());
      }));

    const pathsAsked = fc.record({
      stepLimit: fc.integer({ min: 2, max: 4 }),
      startPoint: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
      endPoint: fc.option(fc.constantFrom(...NAMES), { nil: undefined }),
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
      by: breakdowns,
      limit: fc.integer({ min: 1, max: 3 }),
      ...span,
    });
    test('of a trend', () =>
      holds(db, trends, async (lab, people, { name, math, display, by, limit, range: given, seed }) => {
        const { filters, range } = given;
        const asked = {
          ...filters,
          display,
          events: [{ ...entityOf(name), math, math_property: 'amount' }],
          ...(await breakDown(lab, people, by, limit)),
        };
        const shown = await lab.compute('TRENDS', asked);
        const look = LOOK_BACK.get(math);
        const reach = { ...range, from: toReach(range, look, isOneNumber(display)) };
        const values = shown.map(({ breakdown_value: value }) => value);
        const named = values.filter((value) => value !== OTHER);
        const isOne = isOneNumber(display);
        const starts = isOne ? [range.from] : listStarts(range);
        const numbers = shown.flatMap(({ breakdown_value: value, data, aggregated_value: total }) =>
          (isOne ? [total ?? 0] : data).map((count, index) => ({ value, count, start: starts[index] ?? 0 })),
        );
        const who = ({ value, start }: { value: string | number | undefined; start: number }) => {
          const end = isOne ? range.until : next(start, range.interval);
          const from =
            display === 'ActionsLineGraphCumulative' && math === 'dau'
              ? range.from
              : look === undefined
                ? start
                : end - look;
          const isOf = (event: Happened, somebody: Somebody) => {
            const values = valuesOf(by, event, somebody, reach);
            return (
              value === undefined ||
              (value === OTHER ? !named.some((one) => values.includes(one ?? '')) : values.includes(value))
            );
          };
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
            ...targetOf(name),
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
  const sessions = new Set(events.flatMap(({ session }) => session || []));
  return math === 'unique_session' ? sessions.size : events.length;
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
    actionSteps,
    fc.array(questions, { minLength: 1, maxLength: 4 }),
    async (generated, steps, asked) => {
      lab = await createActorLab(db(), generated, lab);
      action = { id: await lab.makeAction(toSteps(steps)), steps };
      const people = markEvents(generated, steps);
      for (const question of asked) await check(lab, people, question);
    },
  );
  await fc.assert(property, { numRuns: RUNS });
}
