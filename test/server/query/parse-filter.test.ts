import { describe, expect, test } from 'vitest';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { ApiError } from '../../../src/server/http/errors.ts';
import {
  MAX_DEPTH,
  MAX_ITEMS,
  MAX_TEXT_CHARACTERS,
  MAX_VALUES,
} from '../../../src/server/query/filter-bounds.ts';
import { parseFilter } from '../../../src/server/query/parse-filter.ts';

const read = (given: unknown) => parseFilter(given, { defaultType: 'event' });
const none = { kind: 'group', operator: 'and', members: [] };
const property = (key: string, values: unknown[], more: object = {}) => ({
  kind: 'property',
  owner: 'event',
  key,
  operator: 'exact',
  values,
  negated: false,
  ...more,
});
const all = (...members: object[]) => ({ kind: 'group', operator: 'and', members });
const any = (...members: object[]) => ({ kind: 'group', operator: 'or', members });

function refusal(given: unknown, strict = false): { detail: string; attr: string | null } {
  try {
    parseFilter(given, { defaultType: 'event', strict });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { detail, attr } = error.envelope;
    expect({ status: error.status, code: error.envelope.code }).toEqual({
      status: 400,
      code: 'invalid_input',
    });
    return { detail, attr };
  }
  throw new Error('it was accepted');
}

describe('a filter is read', () => {
  test.each<[form: string, given: unknown, tree: object]>([
    ['nothing', undefined, none],
    ['null', null, none],
    ['an empty text', ' ', none],
    ['the text null', 'null', none],
    ['an empty list', [], none],
    ['an empty object', {}, none],
    [
      'a list',
      [
        { key: 'a', value: 1 },
        { key: 'b', value: ['x', 'y'], operator: 'is_not', type: 'person' },
      ],
      all(property('a', [1]), property('b', ['x', 'y'], { operator: 'is_not', owner: 'person' })),
    ],
    ['JSON text', '[{"key":"a","value":"b"}]', all(property('a', ['b']))],
    ['one item', { key: 'a', value: true }, all(property('a', [true]))],
    [
      'groups',
      {
        type: 'OR',
        values: [
          { type: 'AND', values: [{ key: 'a', value: 1 }] },
          { key: 'b', value: 2 },
        ],
      },
      any(all(property('a', [1])), property('b', [2])),
    ],
    ['a group without a type', { values: [{ key: 'a', value: 1 }] }, all(property('a', [1]))],
    [
      'the oldest form',
      { a: 'x', b__icontains: 'y', utm__source: 'z', utm__source__is_not: 'w' },
      all(
        property('a', ['x']),
        property('b', ['y'], { operator: 'icontains' }),
        property('utm__source', ['z']),
        property('utm__source', ['w'], { operator: 'is_not' }),
      ),
    ],
    [
      'a group of an organisation',
      [{ key: 'a', value: 1, type: 'group', group_type_index: '2' }],
      all(property('a', [1], { owner: 'group', groupTypeIndex: 2 })),
    ],
    [
      'a cohort',
      [{ key: 'id', value: '7', type: 'cohort', negation: true }],
      all({ kind: 'cohort', cohortId: 7, negated: true }),
    ],
    [
      'several cohorts',
      [{ key: 'id', value: [7, 8], type: 'cohort', operator: 'in' }],
      all(
        any({ kind: 'cohort', cohortId: 7, negated: false }, { kind: 'cohort', cohortId: 8, negated: false }),
      ),
    ],
    [
      'none of several cohorts',
      [{ key: 'id', value: [7, 8], type: 'cohort', operator: 'not_in' }],
      all(
        all({ kind: 'cohort', cohortId: 7, negated: true }, { kind: 'cohort', cohortId: 8, negated: true }),
      ),
    ],
    ['presence', [{ key: 'a', operator: 'is_set' }], all(property('a', [], { operator: 'is_set' }))],
    ['another name of an operator', [{ key: 'a', operator: 'in', value: [1] }], all(property('a', [1]))],
    [
      'behaviour',
      [
        {
          type: 'behavioral',
          key: '$pageview',
          value: 'performed_event_multiple',
          operator: 'lte',
          operator_value: 3,
          time_value: '30',
          time_interval: 'day',
          negation: true,
        },
      ],
      all({
        kind: 'behaviour',
        did: { event: '$pageview' },
        eventFilter: none,
        window: { count: 30, unit: 'day' },
        times: { comparison: 'lte', count: 3 },
        negated: true,
      }),
    ],
    [
      'behaviour of some events',
      [
        {
          type: 'behavioral',
          key: 'paid',
          value: 'performed_event',
          event_type: 'events',
          explicit_datetime: '-2w',
          event_filters: [{ key: 'a', value: 1 }],
        },
      ],
      all({
        kind: 'behaviour',
        did: { event: 'paid' },
        eventFilter: all(property('a', [1])),
        window: { count: 2, unit: 'week' },
        negated: false,
      }),
    ],
  ])('in the form of %s', (_, given, tree) => {
    expect(read(given)).toEqual(tree);
    if (typeof given === 'object') expect(read(JSON.stringify(given))).toEqual(tree);
  });

  test('with every digit of its numbers', () => {
    expect(read('[{"key":"a","value":1234567890123456789}]')).toEqual(
      all(property('a', [new ExactNumber('1234567890123456789')])),
    );
  });

  test('with the type that the caller says where an item has none', () => {
    const given = [{ key: 'a', value: 1 }];
    expect(parseFilter(given, { defaultType: 'person' })).toEqual(
      all(property('a', [1], { owner: 'person' })),
    );
  });

  test.each([
    { key: '\0k', value: 'x' },
    { key: 'k', value: '\ud800' },
  ])('but not %j, which nothing stored can hold', (item) => {
    expect(() => read([item])).toThrow(/text with a NUL character or half a surrogate pair/);
  });
});

const MALFORMED: readonly unknown[] = [
  5,
  'x',
  null,
  [],
  [{ key: 'a', value: 1 }],
  {},
  { value: 1 },
  { key: null, value: 1 },
  { key: 'a' },
  { key: 'a', value: null },
  { key: 'a', value: { b: 1 } },
  { key: 'a', value: [{ b: 1 }] },
  { key: 'a', value: [1], operator: 'between' },
  { key: 'a', value: 1, type: 5 },
  { key: 'a', value: 1, type: 'group' },
  { key: 'a', value: 1, type: 'group', group_type_index: 5 },
  { key: '', value: 'performed_event', type: 'behavioral', time_value: 1, time_interval: 'day' },
  { key: 'e', value: 'performed_event', type: 'behavioral', time_value: 0, time_interval: 'day' },
  { key: 'e', value: 'performed_event', type: 'behavioral', time_value: 1, time_interval: 'decade' },
  { key: 'e', value: 'performed_event_multiple', type: 'behavioral', time_value: 1, time_interval: 'day' },
  {
    key: 'e',
    value: 'performed_event_multiple',
    type: 'behavioral',
    time_value: 1,
    time_interval: 'day',
    operator: 'constructor',
    operator_value: 1,
  },
];

describe('an item that is none', () => {
  test.each(MALFORMED.map((item) => [JSON.stringify(item), item]))('such as %s is left out', (_, item) => {
    expect(read([item, { key: 'b', value: 1 }])).toEqual(all(property('b', [1])));
    expect(
      read({
        type: 'OR',
        values: [
          { type: 'AND', values: [item] },
          { key: 'b', value: 1 },
        ],
      }),
    ).toEqual(any(property('b', [1])));
  });

  test.each(MALFORMED.map((item) => [JSON.stringify(item), item]))(
    'such as %s is refused where that is asked for',
    (_, item) => {
      expect(refusal([item], true)).toEqual({ detail: expect.any(String), attr: 'properties' });
    },
  );
});

describe('what is refused', () => {
  test.each([
    'x',
    '',
    null,
    undefined,
    -1,
    1.5,
    2 ** 31,
    {},
    [],
    [7, 'x'],
    '0199a0d2-0000-7000-8000-000000000000',
  ])('a cohort that is named by %j, where any other filter is left out', (value) => {
    const filter = [
      {
        type: 'OR',
        values: [
          { key: 'id', value, type: 'cohort' },
          { key: 'b', value: 1 },
        ],
      },
    ];
    expect(refusal(filter)).toEqual({
      detail: expect.stringMatching(/^The value of a cohort filter is the id of a cohort, .* GET /s),
      attr: 'properties',
    });
  });

  test.each(['{', '[1', '5', 'true', '"text"', `${'['.repeat(5000)}`])(
    'text that is no filter: %.20s',
    (text) => {
      expect(refusal(text)).toEqual({ detail: 'Properties are unparsable!', attr: null });
    },
  );

  test.each<[why: string, given: unknown, detail: string]>([
    [
      'an unknown type',
      [{ key: 'a', value: 1, type: 'hogql' }],
      'Filters of type "hogql" are not supported.',
    ],
    ['an unknown operator', [{ key: 'a', value: 1, operator: 'near' }], 'Operator "near" is not supported.'],
    [
      'a name that every object has',
      [{ key: 'a', value: 1, operator: 'toString' }],
      'Operator "toString" is not supported.',
    ],
    [
      'an operator that is no name',
      [{ key: 'a', value: 1, operator: { a: 1 } }],
      'Operator "{"a":1}" is not supported.',
    ],
    ['a group of another kind', { type: 'XOR', values: [] }, 'The type of a group must be AND or OR.'],
    [
      'other behaviour',
      [{ key: 'e', type: 'behavioral', value: 'stopped_performing_event' }],
      'Behaviour "stopped_performing_event" is not supported.',
    ],
    [
      'behaviour of an action that is none',
      [{ key: 'signed up', type: 'behavioral', value: 'performed_event', event_type: 'actions' }],
      'The key of a behaviour of actions is the id of an action, a whole number. ' +
        'GET /api/projects/:project_id/actions/ lists the actions of the project.',
    ],
    [
      'behaviour of anything else',
      [{ key: 1, type: 'behavioral', value: 'performed_event', event_type: 'tables' }],
      'The event_type of a behaviour is events or actions.',
    ],
  ])('%s', (_, given, detail) => {
    expect(refusal(given)).toEqual({ detail, attr: 'properties' });
  });

  const items = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: 1 }));
  const nested = (depth: number): object =>
    depth === 0 ? { key: 'a', value: 1 } : { type: 'AND', values: [nested(depth - 1)] };

  test.each<[what: string, fits: unknown, tooMuch: unknown]>([
    ['items', items(MAX_ITEMS), items(MAX_ITEMS + 1)],
    ['groups inside groups', nested(MAX_DEPTH), nested(MAX_DEPTH + 1)],
    [
      'values',
      [{ key: 'a', value: Array(MAX_VALUES).fill(1) }],
      [{ key: 'a', value: Array(MAX_VALUES + 1).fill(1) }],
    ],
    [
      'characters',
      [{ key: 'a', value: 'x'.repeat(MAX_TEXT_CHARACTERS) }],
      [{ key: 'a', value: 'x'.repeat(MAX_TEXT_CHARACTERS + 1) }],
    ],
    [
      'values to search for',
      [{ key: 'a', operator: 'icontains', value: Array(100).fill('x') }],
      [{ key: 'a', operator: 'icontains', value: Array(101).fill('x') }],
    ],
  ])('too many %s, and not one fewer', (_, fits, tooMuch) => {
    expect(read(fits).members.length).toBeGreaterThan(0);
    expect(refusal(tooMuch).detail).toMatch(/at most\.$/);
  });
});
