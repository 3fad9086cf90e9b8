import fc from 'fast-check';
import { type IdentityFact, toScope, WHOLE_MARK } from '../../src/contract/identity-fact.ts';
import { PersonProperties } from '../../src/identity/person-properties.ts';
import { ExactNumber } from '../../src/lib/json/exact-number.ts';

/** Few ids, keys and times, so that facts meet in every combination. */
const id = fc.constantFrom('d1', 'd2', 'd3', 'u1', 'u2', 'null', 'anonymous', 'ü🚀');
const time = fc.constantFrom(
  '2023-01-01T00:00:00.000Z',
  '2023-01-02T00:00:00.000Z',
  '2024-01-01T00:00:00.000Z',
);
const value = fc.oneof(
  fc.constantFrom<unknown>('a', 'b', 1, 0.30000000000000004, null, true, '', ['x', 1], { b: 1, a: [2] }),
  fc.constant(new ExactNumber('1234567890123456789')),
);
const values = fc.dictionary(fc.constantFrom('plan', 'seats', 'naïve', '__proto__'), value, { maxKeys: 3 });

export const anyFact: fc.Arbitrary<IdentityFact> = fc.oneof(
  fc.record({ kind: fc.constant('pair' as const), anonId: id, userId: id, time }),
  fc.record({ kind: fc.constant('person' as const), distinctId: id, time, set: values, setOnce: values }),
  fc.record({
    kind: fc.constant('group' as const),
    groupType: fc.constantFrom('company', 'team'),
    groupKey: id,
    time,
    set: values,
  }),
);

/** Snapshots of vendors that say all there is, in some project of theirs or in none, with facts that never do. */
export const anySnapshot: fc.Arbitrary<IdentityFact> = fc
  .record({
    distinctId: fc.constantFrom('d1', 'u1'),
    time,
    scope: fc.constantFrom(undefined, '', toScope('1'), toScope('12'), toScope('"2\t')),
    set: values,
    setOnce: values,
  })
  .map(({ distinctId, time: moment, scope, set, setOnce }) => ({
    kind: 'person',
    distinctId,
    time: scope === undefined ? moment : `${moment}0${scope}`,
    set: scope === undefined || Object.keys(set).length === 0 ? set : { ...set, [WHOLE_MARK]: true },
    setOnce,
  }));

/** Properties as they are stored, one by one: key, time, canonical text. */
export function listProperties(text: string) {
  const properties = new PersonProperties();
  properties.addText(text);
  return { set: properties.set.properties(), setOnce: properties.setOnce.properties() };
}
