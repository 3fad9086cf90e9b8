import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSemaphore } from '../../../src/lib/async/semaphore.ts';
import { createCorrelationFinder } from '../../../src/server/insights/correlation/compute.ts';
import { createTestApi } from '../../support/api.ts';
import { onBothDatabases } from '../../support/databases.ts';
import { did, NOW } from '../insights/lab.ts';
import { type ActorLab, createActorLab } from './actor-lab.ts';
import { FIRST_DAY, histories, type Somebody } from './history.ts';
import { bestAttempt, type FunnelRules } from './reference.ts';

const RUNS = Number(process.env['BACKHAUL_TEST_HISTORIES'] ?? 8);
const DAY = 86_400_000;

onBothDatabases('what goes with converting', (db) => {
  const findCorrelations = createCorrelationFinder({
    now: () => Date.parse(NOW),
    runInTurn: createSemaphore(1),
    sizes: { atOnceMs: 0, firstBlocks: 1, factsAStep: 10, eventsForTwo: -1 },
  });

  describe('is counted as the lists of persons', { timeout: 3_600_000 }, () => {
    const questions = fc.record({
      steps: fc.constantFrom(['a', 'b'], ['b', 'a']),
      order: fc.constantFrom<FunnelRules['order']>('ordered', 'unordered', 'strict'),
      window: fc.constantFrom({ count: 1, unit: 'day', ms: DAY }, { count: 1, unit: 'week', ms: 7 * DAY }),
      type: fc.constantFrom('events', 'event_with_properties'),
    });
    test('of events, and of events with properties, over generated histories', async () => {
      let lab: ActorLab | undefined;
      const property = fc.asyncProperty(
        histories,
        questions,
        async (people, { steps, order, window, type }) => {
          lab = await createActorLab(db(), people, lab);
          const asked = {
            events: steps.map((id, index) => ({ id, order: index })),
            date_from: new Date(FIRST_DAY).toISOString().slice(0, 10),
            funnel_order_type: order,
            funnel_window_interval: window.count,
            funnel_window_interval_unit: window.unit,
          };
          const shown = await findCorrelations(db(), lab.api.project.id, {
            ...asked,
            funnel_correlation_type: type,
            funnel_correlation_event_names: ['c'],
            funnel_correlation_event_exclude_property_names: [
              'amount',
              '$process_person_profile',
              '$group_0',
              '$session_id', // has so many values that those of plan may not be among what is shown
            ],
          });
          const rules = { steps, order, window: window.ms };
          const isThrough = ({ events }: Somebody) => bestAttempt(events, rules).length === steps.length;
          const entered = people.filter(({ events }) => bestAttempt(events, rules).length > 0);
          expect(shown.successTotal).toBe(entered.filter(isThrough).length);
          expect(shown.failureTotal).toBe(entered.length - shown.successTotal);
          const names = type === 'events' ? ['c'] : ['c::plan::x', 'c::plan::y', 'c::plan::z'];
          for (const name of names) {
            const [, , plan] = name.split('::');
            const having = entered.filter((somebody) => {
              const times = bestAttempt(somebody.events, rules);
              const first = times[0] ?? 0;
              const end = isThrough(somebody) ? (times.at(-1) ?? 0) : first + window.ms;
              return somebody.events.some(
                (event) =>
                  event.name === 'c' && event.at > first && event.at < end && (!plan || event.plan === plan),
              );
            });
            const success = having.filter(isThrough).length;
            const found = shown.found.find((each) => each.name === name);
            expect([name, found?.success ?? 0, found?.failure ?? 0]).toEqual([
              name,
              success,
              having.length - success,
            ]);
            const properties = plan === undefined ? [] : [{ key: 'plan', value: plan }];
            for (const converted of [true, false]) {
              const listed = await lab.list('funnel/correlation', {
                ...asked,
                funnel_correlation_person_entity: { id: 'c', properties },
                funnel_correlation_person_converted: converted,
              });
              expect(listed).toHaveLength(converted ? success : having.length - success);
            }
          }
        },
      );
      await fc.assert(property, { numRuns: RUNS });
    });
  });

  test('is told apart by the text of single values, once a person', async () => {
    const api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(
      did('ann', 'view', '01-05 10:00'),
      did('ann', 'search', '01-05 10:01', { n: 1, t: '[x', list: ['x'], object: { a: 1 }, nothing: null }),
      did('ann', 'paid', '01-05 10:02'),
      did('bob', 'view', '01-05 10:00'),
      did('bob', 'search', '01-05 10:01', { n: '1', t: '[x' }),
      did('bob', 'search', '01-05 10:02', { n: 1, t: '{}', list: [] }),
      did('bob', 'paid', '01-05 10:03'),
      did('eve', 'view', '01-05 10:00'),
      did('eve', 'search', '01-05 10:01', { n: 2, t: '{}', object: {} }),
    );
    const found = await findCorrelations(db(), api.project.id, {
      events: [{ id: 'view' }, { id: 'paid', order: 1 }],
      date_from: '2024-01-01',
      funnel_correlation_type: 'event_with_properties',
      funnel_correlation_event_names: ['search'],
      funnel_correlation_event_exclude_property_names: ['distinct_id'],
    });
    const own = found.found.filter(({ name }) => !name.startsWith('search::$'));
    const byName = own.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    expect(byName.map(({ name, success, failure }) => [name, success, failure])).toEqual([
      ['search::n::1', 2, 0],
      ['search::n::2', 0, 1],
      ['search::t::[x', 2, 0],
      ['search::t::{}', 1, 1],
    ]);
  });

  test('is what its endpoint says, of events and of properties of persons', async () => {
    const api = await createTestApi(db(), () => Date.parse(NOW));
    await api.send(
      // Two convert, one of whom searches on the way; two do not, both of whom read help.
      did('ann', 'view', '01-05 10:00', { $set: { plan: 'pro', tags: ['x'] } }),
      did('ann', 'search', '01-05 10:01'),
      did('ann', 'paid', '01-05 10:02'),
      did('ann', 'help', '01-05 10:03'), // after the last step
      did('bob', 'search', '01-05 09:59'), // before the first
      did('bob', 'view', '01-05 10:00', { $set: { plan: 'pro' } }),
      did('bob', 'paid', '01-05 10:02'),
      did('eve', 'view', '01-05 10:00', { $set: { plan: 'free' } }),
      did('eve', 'help', '01-05 10:01'),
      did('joe', 'view', '01-05 10:00', { $set: { plan: 'free' } }),
      did('joe', 'help', '01-05 10:01'),
    );
    const funnel = {
      events: [
        { id: 'view', order: 0 },
        { id: 'paid', order: 1 },
      ],
      date_from: '2024-01-01',
    };
    const ask = async (more: object) => {
      const response = await api.call('POST', 'insights/funnel/correlation/', { ...funnel, ...more });
      return { status: response.status, body: (await response.json()) as { result: { events: object[] } } };
    };
    const found = (event: string, success_count: number, failure_count: number, odds_ratio: number) =>
      expect.objectContaining({ event, success_count, failure_count, odds_ratio });
    expect((await ask({})).body.result).toMatchObject({
      success_total: 2,
      failure_total: 2,
      skewed: false,
      // (1+1)(2+1)/((0+1)(1+1)) = 3, and (0+1)(0+1)/((2+1)(2+1)) = 1/9
      events: [found('search', 1, 0, 3), found('help', 0, 2, 1 / 9)],
    });
    const properties = {
      funnel_correlation_type: 'properties',
      funnel_correlation_names: ['$all'],
      funnel_correlation_exclude_names: ['$creator_event_uuid'],
    };
    expect((await ask(properties)).body.result.events).toEqual([
      found('plan::pro', 2, 0, 9),
      found('plan::free', 0, 2, 1 / 9),
    ]);
    expect(await ask({ funnel_correlation_type: 'properties' })).toMatchObject({
      status: 400,
      body: { attr: 'funnel_correlation_names' },
    });
    expect(await ask({ funnel_correlation_type: 'event_with_properties' })).toMatchObject({
      status: 400,
      body: { attr: 'funnel_correlation_event_names' },
    });
    expect(await ask({ funnel_correlation_type: 'x' })).toMatchObject({ status: 400 });
    const query = new URLSearchParams({ events: JSON.stringify(funnel.events), date_from: '2024-01-01' });
    const got = await api.read(`insights/funnel/correlation/?${query.toString()}`);
    expect(got).toMatchObject({ result: { success_total: 2 } });
  });
});
