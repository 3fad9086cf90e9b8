import { describe, expect, it } from 'vitest';
import { stringifyJson } from '../../../../src/lib/json/stringify-json.ts';
import { createHideHashed } from '../../../../src/sources/declared/values/hide-hashed.ts';
import { jsonlOptions } from '../../../../src/sources/jsonl/index.ts';
import { createMapper } from '../../create-mapper.ts';

/** A field may be an object in some records and text of JSON in others, and nothing in the manifest says so. */
const KEY = 'a key of at least sixteen characters';
const SECRET = 'ann@example.com';
const BASE = {
  event: { constant: 'Ordered' },
  distinctId: { column: 'u' },
  timestamp: { column: 't' },
};
const map = (mapping: object, fields: object) =>
  createMapper(
    'jsonl',
    { mapping: { ...BASE, ...mapping } },
    { hashKey: KEY },
  )({
    u: 'ann',
    t: '2023-05-01T00:00:00Z',
    ...fields,
  });
const hash = (...columns: string[]) => ({ hash: { columns, key: '${KEY}' } });

const TEXT = `{"email":"${SECRET}"}`;
const CASES: readonly (readonly [string, object])[] = [
  ['text of an object', { user: TEXT }],
  ['text of a list', { user: ` [${TEXT}]` }],
  ['text that was written as text again', { user: JSON.stringify(TEXT) }],
  ['a list of texts', { user: [TEXT] }],
  ['an object with dots in its names', { 'user.x': 1, user: TEXT }],
];

describe.each([
  ['hash', hash('user.email')],
  ['exclude', { exclude: ['user.email'] }],
])('what %s leads into', (rule, mapping) => {
  it.each(CASES)('is a reject where it is %s, and is not shown', (_, fields) => {
    const outcome = map(mapping, fields);
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'bad_field' });
    expect(stringifyJson(outcome)).toContain(
      `user is text of JSON that a path of mapping.${rule} leads into`,
    );
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  });

  it.each([
    ['an object', { user: { email: SECRET } }],
    ['plain text', { user: 'ann' }],
    ['text of an object without the field', { user: '{"plan":"free"}' }],
    ['text that begins like JSON and is none', { user: '{email' }],
  ])('is mapped where it is %s', (_, fields) => {
    const outcome = map(mapping, fields);
    expect(outcome.kind).toBe('mapped');
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  });

  it('is mapped as soon as the manifest says that it is JSON', () => {
    const outcome = map({ ...mapping, types: { user: 'json' } }, { user: TEXT });
    expect(outcome.kind).toBe('mapped');
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  });
});

it('a column that is left out as a whole may be text', () => {
  expect(map({ exclude: ['user', 'user.email'] }, { user: TEXT }).kind).toBe('mapped');
});

describe.each([
  ['hash', hash('user.x.email')],
  ['exclude', { exclude: ['user', 'user.x.email'] }],
])('a column that is left out but for what is spread from it, beside %s', (_, rule) => {
  const mapping = { exclude: ['user'], spreadColumns: ['user.x'], ...rule };

  it.each([
    ['text', `{"x":${TEXT}}`],
    ['a list', [{ x: { email: TEXT } }]],
  ])('may be %s, of which nothing is sent', (_form, user) => {
    const outcome = map(mapping, { user });
    expect(outcome.kind).toBe('mapped');
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  });

  it.each(['jsonColumns', 'types'])(
    'is a reject where %s has that text read, and a field is text again',
    (key) => {
      const read = key === 'types' ? { types: { 'user.x': 'json' } } : { jsonColumns: ['user.x'] };
      const inner = stringifyJson(rule).replace('user.x.email', 'user.x.more.email');
      const outcome = map(
        { ...mapping, ...JSON.parse(inner), ...read },
        { user: { x: JSON.stringify({ more: TEXT }) } },
      );
      expect(outcome).toMatchObject({ kind: 'rejected', reason: 'bad_field' });
    },
  );
});

it.each([
  ['mail', 'props.mail.x'],
  ['mail', 'mail.x'],
  ['props.mail', 'mail.x'],
])('text of a spread column’s field that is declared as %s is hashed by %s', (typed, hashed) => {
  const mapping = { spreadColumns: ['props'], types: { [typed]: 'json' }, ...hash(hashed) };
  const outcome = map(mapping, { props: { mail: `{"x":"${SECRET}"}` } });
  expect(outcome.kind).toBe('mapped');
  expect(stringifyJson(outcome)).not.toContain(SECRET);
});

const MAIL = JSON.stringify({ x: SECRET });
describe.each([
  ['an object', { mail: MAIL }],
  ['text', JSON.stringify({ mail: MAIL })],
])('text of the field of a spread column that is %s', (_, props) => {
  it.each([
    ['hash', 'mail.x', (path: string) => hash(path)],
    ['hash', 'props.mail.x', (path: string) => hash(path)],
    ['exclude', 'mail.x', (path: string) => ({ exclude: [path] })],
    ['exclude', 'props.mail.x', (path: string) => ({ exclude: [path] })],
  ])('is a reject where %s: %s leads into it, until the manifest says what the reject asks for', (...of) => {
    const [, path, toRule] = of;
    const mapping = { spreadColumns: ['props'], jsonColumns: ['props'], ...toRule(path) };
    const outcome = map(mapping, { props });
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'bad_field' });
    const text = stringifyJson(outcome);
    expect(text).toContain('props.mail is text of JSON');
    expect(text).not.toContain(SECRET);

    const typed = /`types: \{ (\S+): json \}`/.exec(text)?.[1] ?? '';
    const corrected = map({ ...mapping, types: { [typed]: 'json' } }, { props });
    expect(corrected, typed).toMatchObject({ kind: 'mapped' });
    expect(stringifyJson(corrected)).not.toContain(SECRET);
  });
});

it('text within an object is named by its path', () => {
  const fields = { user: { more: TEXT } };
  const mapping = hash('user.more.email');
  const outcome = map(mapping, fields);
  expect(stringifyJson(outcome)).toContain('user.more is text of JSON');
  const corrected = map({ ...mapping, types: { 'user.more': 'json' } }, fields);
  expect(corrected.kind).toBe('mapped');
  expect(stringifyJson(corrected)).not.toContain(SECRET);
});

it.each([
  ['hash', hash('email')],
  ['exclude', { exclude: ['email'] }],
])(
  'text around an object that is spread is a reject where %s names a field of the object',
  (rule, mapping) => {
    const fields = { context: JSON.stringify({ traits: { email: SECRET } }) };
    const spread = { spreadColumns: ['context.traits'], ...mapping };
    const outcome = map(spread, fields);
    expect(stringifyJson(outcome)).toContain(`context is text of JSON that a path of mapping.${rule}`);
    const corrected = map({ ...spread, types: { context: 'json' } }, fields);
    expect(corrected.kind).toBe('mapped');
    expect(stringifyJson(corrected)).not.toContain(SECRET);
  },
);

it.each([['props'], ['outer.props']])(
  'text of %s, which is spread and typed as JSON, is read before a field of it is hashed',
  (spread) => {
    const mapping = { spreadColumns: [spread], types: { [spread]: 'json' }, ...hash('email') };
    const outcome = map(mapping, spread === 'props' ? { props: TEXT } : { outer: { props: TEXT } });
    expect(outcome.kind).toBe('mapped');
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  },
);

it('text within text is read after it, in whatever order the manifest names both', () => {
  const mapping = {
    jsonColumns: ['a.b'],
    spreadColumns: ['a.b'],
    types: { a: 'json' },
    ...hash('a.b.email'),
  };
  const outcome = map(mapping, { a: JSON.stringify({ b: TEXT }) });
  expect(outcome.kind).toBe('mapped');
  expect(stringifyJson(outcome)).not.toContain(SECRET);
});

it('a plan shows no such text', () => {
  const hide = (mapping: object) =>
    createHideHashed(jsonlOptions.parse({ mapping: { ...BASE, ...mapping } }).mapping);
  const record = { user: TEXT, owner: TEXT, plan: 'free' };
  expect(hide(hash('user.email', 'owner.email'))?.(record)).toEqual({
    user: '(hashed)',
    owner: '(hashed)',
    plan: 'free',
  });
  const spread = hide({ spreadColumns: ['props'], ...hash('mail.x') });
  expect(spread?.({ props: { mail: MAIL } })).toEqual({ props: '(hashed)' });
  const unread = hide({ spreadColumns: ['props'], ...hash('email') });
  expect(unread?.({ props: TEXT }), 'a record that is rejected is shown as well').toEqual({
    props: '(hashed)',
  });
  expect(unread?.({ props: [TEXT, { email: SECRET, n: 1 }] })).toEqual({
    props: ['(hashed)', { email: '(hashed)', n: 1 }],
  });
  const declared = hide({ spreadColumns: ['props'], jsonColumns: ['props'], ...hash('email') });
  expect(declared?.({ props: JSON.stringify([TEXT]) })).toEqual({ props: '(hashed)' });
  const excluding = hide({ exclude: ['user'], ...hash('user.email') });
  expect(excluding?.({ user: TEXT }), 'what is excluded is shown as well').toEqual({ user: '(hashed)' });
});

describe.each([
  ['hash', (path: string, exclude: string) => ({ ...hash(path), exclude: [exclude] })],
  ['exclude', (path: string, exclude: string) => ({ exclude: [path, exclude] })],
] as const)('text that a path of %s leads into', (rule, toRules) => {
  it('is a reject in an object that is spread, also where what is around it is excluded', () => {
    const mapping = { ...toRules('user.x.more.email', 'user'), spreadColumns: ['user.x'] };
    const outcome = map(mapping, { user: { x: { n: 1, more: TEXT } } });
    expect(stringifyJson(outcome)).toContain(`user.x.more is text of JSON that a path of mapping.${rule}`);
    expect(map(mapping, { user: { x: { n: 1 }, more: TEXT } }).kind).toBe('mapped');
  });

  it('is a reject where a column whose name only begins like its own is excluded', () => {
    const outcome = map(toRules('user.x.email', 'user'), { user: 'x', 'user.x': TEXT });
    expect(stringifyJson(outcome)).toContain(`user.x is text of JSON that a path of mapping.${rule}`);
  });

  it('is left out with the column that it is in', () => {
    const outcome = map(toRules('user.x.email', 'user'), { user: { x: TEXT } });
    expect(outcome.kind).toBe('mapped');
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  });
});

it('needs no rule of its own in a field that is excluded with all that is in it', () => {
  for (const exclude of [
    ['user.x', 'user.x.email'],
    ['x', 'x.email'],
  ]) {
    const outcome = map({ exclude, spreadColumns: ['user'] }, { user: { x: TEXT, n: 1 } });
    expect(outcome).toMatchObject({ kind: 'mapped', events: [{ properties: { n: 1 } }] });
    expect(stringifyJson(outcome)).not.toContain(SECRET);
  }
});
