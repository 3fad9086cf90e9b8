import { describe, expect, test } from 'vitest';
import { compileFlags } from '../../../../src/server/flags/evaluate/compile-flags.ts';
import { decideFlags } from '../../../../src/server/flags/evaluate/decide.ts';
import type { Facts } from '../../../../src/server/flags/evaluate/facts.ts';
import { findCycle } from '../../../../src/server/flags/parse-flag.ts';
import type { CohortDefinition } from '../../../../src/server/query/definitions/cohort-definition.ts';
import { parseFilter } from '../../../../src/server/query/parse-filter.ts';
import { found, makeFlag, person, subject } from '../flag-lab.ts';

const COHORTS: ReadonlyMap<number, CohortDefinition> = new Map([
  [1, define(1, [{ key: 'email', operator: 'icontains', value: '@example.com' }])],
  [2, define(2, [{ key: 'id', type: 'cohort', value: 1, negation: true }])],
  [3, { ...define(3, []), isStatic: true }],
  [4, define(4, [{ key: 'id', type: 'cohort', value: 4 }])],
  [
    5,
    define(5, [
      {
        type: 'behavioral',
        value: 'performed_event',
        key: 'paid',
        event_type: 'events',
        time_value: 1,
        time_interval: 'day',
      },
    ]),
  ],
]);

function define(id: number, properties: unknown): CohortDefinition {
  return { id, isStatic: false, filter: parseFilter(properties, { defaultType: 'person' }), properties };
}

type Definition = readonly [
  key: string,
  filters: object,
  more?: { readonly keepsValue?: boolean } | undefined,
];

const decide = (definitions: readonly Definition[], facts: Facts, only?: ReadonlySet<string>) =>
  decideFlags(
    compileFlags(
      definitions.map((one) => makeFlag(...one)),
      COHORTS,
    ),
    facts,
    only,
  );

function getValue(filters: object, facts: Facts, more?: { readonly keepsValue?: boolean }) {
  const { decided, failed } = decide([['flag', filters, more]], facts);
  return decided.get('flag')?.value ?? failed.get('flag');
}

const groups = (...conditions: readonly object[]) => ({ groups: conditions });
const when = (...properties: readonly object[]) => groups({ properties });
const plan = { key: 'plan', value: 'pro', operator: 'exact', type: 'person' };
const AWAY = { kind: 'unavailable' } as const;
const NO_STORE = 'The database is away, and the flag depends on what is stored there.';

describe('a condition', () => {
  test.each<[what: string, filters: object, facts: Facts, value: unknown]>([
    ['without properties', groups({}), person('a'), true],
    ['that nobody wrote', groups(), person('a'), false],
    ['of an old definition', { properties: [plan] }, person('a', found({ plan: 'pro' })), true],
    ['of an old definition without a share', { properties: [], rollout_percentage: 0 }, person('a'), false],
    ['on a stored property', when(plan), person('a', found({ plan: 'pro' })), true],
    ['on a stored property of another case', when(plan), person('a', found({ plan: 'PRO' })), false],
    ['on a given property of another case', when(plan), person('a', found({}), { plan: 'PRO' }), true],
    [
      'on a property that the request replaces',
      when(plan),
      person('a', found({ plan: 'pro' }), { plan: 'free' }),
      false,
    ],
    ['on somebody unknown', when(plan), person('a'), false],
    [
      'on somebody unknown whose property is given',
      when(plan),
      person('a', { kind: 'none' }, { plan: 'pro' }),
      true,
    ],
    ['that denies, on somebody unknown', when({ ...plan, operator: 'is_not' }), person('a'), true],
    [
      'that denies otherwise, on somebody unknown',
      when({ ...plan, operator: 'not_icontains' }),
      person('a'),
      false,
    ],
    [
      'that denies otherwise, on somebody without it',
      when({ ...plan, operator: 'not_icontains' }),
      person('a', found({})),
      true,
    ],
    [
      'on what is not set',
      when({ key: 'plan', operator: 'is_not_set', value: 'is_not_set' }),
      person('a', found({})),
      true,
    ],
    [
      'with two properties',
      when(plan, { key: 'age', operator: 'gt', value: 30 }),
      person('a', found({ plan: 'pro', age: 31 })),
      true,
    ],
    [
      'with two properties, one of which fails',
      when(plan, { key: 'age', operator: 'gt', value: 30 }),
      person('a', found({ plan: 'pro', age: 30 })),
      false,
    ],
    [
      'on a cohort',
      when({ key: 'id', type: 'cohort', value: 1 }),
      person('a', found({ email: 'a@example.com' })),
      true,
    ],
    [
      'on a cohort by a given property',
      when({ key: 'id', type: 'cohort', value: 1 }),
      person('a', { kind: 'none' }, { email: 'A@EXAMPLE.COM' }),
      true,
    ],
    [
      'on a cohort of a cohort',
      when({ key: 'id', type: 'cohort', value: 2 }),
      person('a', found({ email: 'a@example.com' })),
      false,
    ],
    ['on members', when({ key: 'id', type: 'cohort', value: 3 }), person('a', found({}, [3])), true],
    [
      'on members, for others',
      when({ key: 'id', type: 'cohort', value: 3 }),
      person('a', found({}, [2])),
      false,
    ],
    ['on members, for somebody unknown', when({ key: 'id', type: 'cohort', value: 3 }), person('a'), false],
    [
      'on those who are no members, for somebody unknown',
      when({ key: 'id', type: 'cohort', value: 3, operator: 'not_in' }),
      person('a'),
      false,
    ],
    [
      'on a cohort that is missing',
      when({ key: 'id', type: 'cohort', value: 9 }),
      person('a'),
      'Cohort 9 does not exist.',
    ],
    [
      'on a cohort in itself',
      when({ key: 'id', type: 'cohort', value: 4 }),
      person('a'),
      'Cohort 4 contains itself.',
    ],
    [
      'on a cohort of events',
      when({ key: 'id', type: 'cohort', value: 5 }),
      person('a'),
      'The event "paid" that somebody did cannot be looked up here.',
    ],
    ['without the database', when(plan), person('a', AWAY), NO_STORE],
    ['without the database, with all that it needs', when(plan), person('a', AWAY, { plan: 'pro' }), true],
    [
      'without the database, after one that matches',
      groups({}, { properties: [plan] }),
      person('a', AWAY),
      true,
    ],
    ['whose share is 0', groups({ rollout_percentage: 0 }), person('a'), false],
    ['whose share is null', groups({ rollout_percentage: null }), person('a'), true],
  ])('%s', (_, filters, facts, value) => {
    expect(getValue(filters, facts)).toBe(value);
  });

  test('says which one matched, as it was written, and why', () => {
    const variants = ['control', 'test'].map((key) => ({ key, rollout_percentage: 50 }));
    const filters = {
      groups: [{ rollout_percentage: 0 }, {}, { properties: [plan], variant: 'test' }],
      multivariate: { variants },
      payloads: { test: '{"a":1}', control: '' },
    };
    const decided = (facts: Facts) => decide([['flag', filters]], facts).decided.get('flag');
    expect(decided(person('a', found({ plan: 'pro' })))).toEqual({
      value: 'test',
      reason: 'condition_match',
      conditionIndex: 2,
      payload: '{"a":1}',
    });
    expect(decided(person('distinct_id_1'))).toMatchObject({ conditionIndex: 1, reason: 'condition_match' });
  });

  test.each([
    [groups({ properties: [plan] }, { rollout_percentage: 0 }), 'out_of_rollout_bound', 1],
    [groups({ rollout_percentage: 0 }, { properties: [plan] }), 'out_of_rollout_bound', 0],
    [groups({ properties: [plan] }, { properties: [plan] }), 'no_condition_match', 1],
  ])('that came closest is named: %j', (filters, reason, conditionIndex) => {
    expect(decide([['flag', filters]], person('a')).decided.get('flag')).toEqual({
      value: false,
      reason,
      conditionIndex,
      payload: undefined,
    });
  });
});

describe('a flag of groups', () => {
  const gold = {
    aggregation_group_type_index: 1,
    groups: [{ properties: [{ key: 'tier', value: 'gold', type: 'group', group_type_index: 1 }] }],
  };
  const of = (...pairs: [number, ReturnType<typeof subject>][]): Facts => ({
    ...person('a', found({ tier: 'gold' })),
    groups: new Map(pairs),
  });

  test.each<[what: string, facts: Facts, value: unknown]>([
    ['no group', of(), false],
    ['a group of another type', of([0, subject('acme', found({ tier: 'gold' }))]), false],
    ['its group', of([1, subject('acme', found({ tier: 'gold' }))]), true],
    ['a group of other properties', of([1, subject('acme', found({ tier: 'free' }))]), false],
    ['given properties', of([1, subject('acme', { kind: 'none' }, { tier: 'gold' })]), true],
    ['no database', of([1, subject('acme', AWAY)]), NO_STORE],
  ])('with %s', (_, facts, value) => {
    expect(getValue(gold, facts)).toBe(value);
  });

  test('is shared out by the key of the group', () => {
    const half = { aggregation_group_type_index: 1, groups: [{ rollout_percentage: 50 }] };
    const values = Array.from({ length: 50 }, (_, n) => getValue(half, of([1, subject(`group ${n}`)])));
    expect(new Set(values)).toEqual(new Set([true, false]));
    expect(decide([['flag', half]], of()).decided.get('flag')?.reason).toBe('no_group_type');
  });
});

describe('early access', () => {
  const key = '$feature_enrollment/flag';
  const properties = [{ key, value: ['true'], operator: 'exact', type: 'person' }];
  const forms = [{ feature_enrollment: true }, { super_groups: [{ properties, rollout_percentage: 100 }] }];

  test.each(forms)('decides alone about those who chose: %j', (form) => {
    const filters = { ...form, ...when(plan) };
    expect(getValue(filters, person('a', found({ [key]: true })))).toBe(true);
    expect(getValue(filters, person('a', found({ [key]: 'true' })))).toBe(true);
    expect(getValue(filters, person('a', found({ [key]: false, plan: 'pro' })))).toBe(false);
    expect(getValue(filters, person('a', found({ plan: 'pro' })))).toBe(true);
    expect(getValue(filters, person('a', found({})))).toBe(false);
    expect(getValue(filters, person('a', { kind: 'none' }, { [key]: 'true' }))).toBe(true);
    expect(getValue(filters, person('a', AWAY, { plan: 'pro' }))).toBe(NO_STORE);
  });

  test('without properties its share decides', () => {
    const filters = { super_groups: [{ properties: [], rollout_percentage: 0 }], groups: [{}] };
    expect(getValue(filters, person('a'))).toBe(false);
  });
});

describe('a flag that keeps its value', () => {
  const half = { groups: [{ rollout_percentage: 50 }] };
  const ids = Array.from({ length: 100 }, (_, n) => `id ${n}`);
  const on = ids.find((id) => getValue(half, person(id)) === true) ?? '';
  const off = ids.find((id) => getValue(half, person(id)) === false) ?? '';

  test('uses the id that was kept', () => {
    const facts = { ...person(off), hashKeys: new Map([['flag', on]]) };
    expect(getValue(half, facts, { keepsValue: true })).toBe(true);
    expect(getValue(half, facts)).toBe(false);
    expect(getValue(half, person(off), { keepsValue: true })).toBe(false);
  });

  test('is not guessed while the database is away', () => {
    const facts = { ...person(on), hashKeys: 'unavailable' } as const;
    expect(getValue(half, facts, { keepsValue: true })).toBe(NO_STORE);
    expect(getValue(half, facts)).toBe(true);
  });
});

describe('a flag that depends on another', () => {
  const on = (flag: string, value: boolean | string) =>
    when({ type: 'flag', key: flag, operator: 'flag_evaluates_to', value });
  const variants = { multivariate: { variants: [{ key: 'blue', rollout_percentage: 100 }] } };
  const base: Definition[] = [
    ['base', { groups: [{}], ...variants }],
    ['none', groups({ rollout_percentage: 0 })],
  ];

  test.each<[flag: string, value: boolean | string, result: boolean | string]>([
    ['base', true, true],
    ['base', 'blue', true],
    ['base', 'red', false],
    ['base', false, false],
    ['none', false, true],
    ['none', true, false],
    ['gone', true, 'It depends on the flag "gone", which does not exist or is not active.'],
    ['flag', true, 'It depends on the flag "flag": It depends on itself.'],
  ])('on %s being %s', (flag, value, result) => {
    const { decided, failed } = decide([['flag', on(flag, value)], ...base], person('a'));
    expect(decided.get('flag')?.value ?? failed.get('flag')).toBe(result);
  });

  test('is decided alone where it is asked for alone', () => {
    const { decided } = decide([['flag', on('base', true)], ...base], person('a'), new Set(['flag']));
    expect([...decided.keys()]).toEqual(['flag']);
  });
});

test('a key of digits takes nothing over that is written by id', () => {
  const on = makeFlag('on', { groups: [{}] });
  const byId = makeFlag('by-id', {
    groups: [{ properties: [{ key: String(on.id), type: 'flag', value: true }] }],
  });
  const digits = makeFlag(String(on.id), {
    groups: [{ properties: [{ key: 'by-id', type: 'flag', value: false }] }],
  });
  for (const flags of [
    [on, byId, digits],
    [digits, byId, on],
  ]) {
    expect(decideFlags(compileFlags(flags, COHORTS), person('ada')).decided.get('by-id')?.value).toBe(true);
    expect(findCycle(flags)).toBeUndefined();
  }
});

test('a flag that fails does not keep the others from being decided', () => {
  const missing = when({ key: 'id', type: 'cohort', value: 9 });
  const { decided, failed } = decide(
    [
      ['a', missing],
      ['b', groups({})],
    ],
    person('a'),
  );
  expect([...decided.keys()]).toEqual(['b']);
  expect([...failed.keys()]).toEqual(['a']);
});
