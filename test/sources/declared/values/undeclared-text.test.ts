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

it('text of a spread column’s field that nobody declared is a reject', () => {
  const mapping = { spreadColumns: ['props'], ...hash('mail.x') };
  const outcome = map(mapping, { props: { mail: `{"x":"${SECRET}"}` } });
  expect(stringifyJson(outcome)).toContain('props.mail is text of JSON');
  expect(stringifyJson(outcome)).not.toContain(SECRET);
});

it('a plan does not show such text', () => {
  const { mapping } = jsonlOptions.parse({ mapping: { ...BASE, ...hash('user.email') } });
  expect(createHideHashed(mapping)?.({ user: TEXT })).toEqual({ user: '(hashed)' });
});
