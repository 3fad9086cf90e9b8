import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { onBothDatabases } from '../../support/databases.ts';
import { createLab, did, type Lab } from './lab.ts';

/*
 * Cohorts of behaviours as conditions of an insight: on the embedded database those who did something are found
 * before the insight reads its events, on a server by each statement itself.
 */

interface Deed {
  /** Two ids of one person each: 0 and 1 are of the first. */
  readonly id: number;
  readonly event: 'paid' | 'view';
  /** Of January 2024; the insights are asked on the tenth. */
  readonly day: number;
  readonly plan: 'pro' | 'free';
}

interface Behaviour {
  readonly event: Deed['event'];
  readonly days: number;
  readonly plan?: Deed['plan'];
  readonly times?: { readonly operator: 'gte' | 'lte' | 'exact'; readonly count: number };
  readonly negation: boolean;
}

const IDS = 24;
const deed = fc.record<Deed>({
  id: fc.nat(IDS - 1),
  event: fc.constantFrom('paid', 'view'),
  day: fc.integer({ min: 1, max: 9 }),
  plan: fc.constantFrom('pro', 'free'),
});
const behaviour = fc.record<Behaviour>(
  {
    event: fc.constantFrom('paid', 'view'),
    days: fc.integer({ min: 1, max: 9 }),
    plan: fc.constantFrom('pro', 'free'),
    times: fc.record({
      operator: fc.constantFrom('gte', 'lte', 'exact'),
      count: fc.integer({ min: 1, max: 4 }),
    }),
    negation: fc.boolean(),
  },
  { requiredKeys: ['event', 'days', 'negation'] },
);

const personOf = ({ id }: Deed) => Math.floor(id / 2);

/** Whether the persons of these deeds have that behaviour, one deed after another. */
function hasBehaviour(deeds: readonly Deed[], person: number, asked: Behaviour): boolean {
  const count = deeds.filter(
    (one) =>
      personOf(one) === person &&
      one.event === asked.event &&
      // At noon, as the insights are asked.
      one.day >= 10 - asked.days &&
      (asked.plan === undefined || one.plan === asked.plan),
  ).length;
  const { operator, count: wanted } = asked.times ?? { operator: 'gte', count: 1 };
  const fits = operator === 'gte' ? count >= wanted : operator === 'lte' ? count <= wanted : count === wanted;
  return (count > 0 && fits) !== asked.negation;
}

const toFilters = ({ event, days, plan, times, negation }: Behaviour) => ({
  properties: {
    type: 'AND',
    values: [
      {
        type: 'behavioral',
        ...{ key: event, event_type: 'events', negation },
        value: times === undefined ? 'performed_event' : 'performed_event_multiple',
        ...(times === undefined ? {} : { operator: times.operator, operator_value: times.count }),
        ...{ time_value: days, time_interval: 'day' },
        ...(plan === undefined ? {} : { event_filters: [{ key: 'plan', value: plan, type: 'event' }] }),
      },
    ],
  },
});

onBothDatabases('insights about those who did something', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
  });

  test('count the events of the persons who did, whatever is asked of their deeds', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(deed, { minLength: 40, maxLength: 120 }),
        fc.array(behaviour, { minLength: 1, maxLength: 6 }),
        async (deeds, behaviours) => {
          lab = await createLab(db(), lab);
          for (let person = 0; person < IDS / 2; person++) {
            await lab.api.send({
              event: '$identify',
              timestamp: '2023-12-01T00:00:00.000Z',
              properties: { distinct_id: `id${2 * person}`, $anon_distinct_id: `id${2 * person + 1}` },
            });
          }
          await lab.api.send(
            ...deeds.map(({ id, event, day, plan }) => did(`id${id}`, event, `01-0${day} 12:00`, { plan })),
          );
          const properties: object[] = [];
          for (const one of behaviours) {
            const made = await lab.api.call('POST', 'cohorts/', { name: 'some', filters: toFilters(one) });
            const { id } = (await made.json()) as { id: number };
            properties.push({ type: 'cohort', key: 'id', value: id });
          }
          const trend = await lab.compute('TRENDS', {
            ...{ events: [{ id: 'view' }], date_from: '2024-01-01', date_to: '2024-01-10', properties },
          });
          const expected = deeds.filter(
            (one) =>
              one.event === 'view' && behaviours.every((asked) => hasBehaviour(deeds, personOf(one), asked)),
          ).length;
          expect(trend[0]?.count).toBe(expected);
        },
      ),
      { numRuns: 25 },
    );
  });
});
