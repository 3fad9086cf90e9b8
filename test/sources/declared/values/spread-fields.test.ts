import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { findUnmatched } from '../../../../src/sources/declared/find-unmatched.ts';
import type { DeclaredMapping } from '../../../../src/sources/declared/options.ts';
import { createHideHashed } from '../../../../src/sources/declared/values/hide-hashed.ts';
import { getSourceType } from '../../../../src/sources/registry.ts';
import { createMapper } from '../../create-mapper.ts';

/** Rules for values reach the fields of spread columns as if these were columns, as `exclude` and `rename` do. */

const KEY = 'a key of at least sixteen characters';
const SECRET = 'ann@example.com';
const hashed = (text: string) => createHmac('sha256', KEY).update(text).digest('hex');
const hash = (...columns: string[]) => ({ hash: { columns, key: '${BACKHAUL_HASH_KEY}' } });
const base = {
  event: { constant: 'Opened' },
  distinctId: { column: 'user' },
  timestamp: { column: 'at' },
};

function map(mapping: object, record: object, type = 'jsonl') {
  const whole = { ...base, spreadColumns: ['details'], ...mapping };
  return createMapper(
    type,
    { mapping: whole },
    { hashKey: KEY },
  )({
    user: 'u',
    at: '2023-01-01T00:00:00Z',
    ...record,
  });
}
const only = (...of: Parameters<typeof map>) => {
  const outcome = map(...of);
  if (outcome.kind !== 'mapped') throw new Error(JSON.stringify(outcome));
  return outcome.events[0];
};
const text = { jsonColumns: ['details'] };
const unnest = { unnest: { column: 'items' } };

describe('hash', () => {
  it.each<[string, object, object, object]>([
    ['a field', hash('email'), { details: { email: SECRET } }, { email: hashed(SECRET) }],
    [
      'a field in text',
      { ...text, ...hash('email') },
      { details: `{"email":"${SECRET}"}` },
      { email: hashed(SECRET) },
    ],
    [
      'a field of its whole path',
      hash('email', 'details.email'),
      { details: { email: SECRET } },
      { email: hashed(SECRET) },
    ],
    [
      'a nested one',
      hash('who.email'),
      { details: { who: { email: SECRET } } },
      { who: { email: hashed(SECRET) } },
    ],
    [
      'a field of a list',
      hash('mails.to'),
      { details: { mails: [{ to: SECRET }] } },
      { mails: [{ to: hashed(SECRET) }] },
    ],
    [
      'a column and a field',
      hash('email'),
      { email: SECRET, details: { email: 'b' } },
      { email: hashed(SECRET), source_email: hashed('b') },
    ],
    [
      'a renamed field',
      { ...hash('email'), rename: { email: 'mail' } },
      { details: { email: SECRET } },
      { mail: hashed(SECRET) },
    ],
    [
      'one spread from a path',
      { ...hash('email'), spreadColumns: ['in.details'] },
      { in: { details: { email: SECRET } } },
      { email: hashed(SECRET) },
    ],
    [
      'one whose column has a dot',
      { ...hash('email'), spreadColumns: ['in.details'] },
      { 'in.details': { email: SECRET } },
      { email: hashed(SECRET) },
    ],
    [
      'an item',
      { ...unnest, spreadColumns: ['items'], ...hash('email') },
      { items: [{ email: SECRET }] },
      { email: hashed(SECRET) },
    ],
    [
      'an item in text',
      { ...unnest, spreadColumns: ['items'], ...hash('email') },
      { items: `[{"email":"${SECRET}"}]` },
      { email: hashed(SECRET) },
    ],
    [
      'a part of an item in text',
      { ...unnest, spreadColumns: ['items.of'], ...hash('email') },
      { items: `[{"of":{"email":"${SECRET}"}}]` },
      { email: hashed(SECRET) },
    ],
    [
      'text that is read for its types',
      { ...hash('email'), spreadColumns: ['in.details'], jsonColumns: ['in'], types: { 'in.n': 'number' } },
      { in: `{"n":"1","details":{"email":"${SECRET}"}}` },
      { email: hashed(SECRET) },
    ],
  ])('reaches %s', (_, mapping, record, properties) => {
    const event = only(mapping, record);
    expect(event?.properties).toMatchObject(properties);
    expect(JSON.stringify(event)).not.toContain(SECRET);
  });

  it('reaches an id that is read from there', () => {
    const outcome = map(
      { distinctId: { column: 'details.email' }, ...hash('email') },
      { details: { email: SECRET } },
    );
    expect(outcome).toMatchObject({ events: [{ properties: { distinct_id: hashed(SECRET) } }] });
    const nobody = map(
      { distinctId: { column: 'details.email' }, ...hash('email') },
      { details: { email: true } },
    );
    expect(nobody).toMatchObject({ kind: 'rejected', reason: 'no_identity' });
  });

  it.each([
    ['jsonl', { ...text, ...hash('email') }, `{"email":"${SECRET}"`],
    ['csv', hash('email'), SECRET],
  ])('shows nothing of what cannot be read: %s', (type, mapping, details) => {
    const outcome = map(mapping, { details }, type);
    expect(outcome).toMatchObject({ kind: 'rejected', reason: 'bad_field' });
    expect(JSON.stringify(outcome)).not.toContain(SECRET);
  });

  it('leaves the ids of events whose records have no such field', () => {
    const record = { details: '{ "n": 1 }' };
    expect(only({ ...text, ...hash('email') }, record)?.uuid).toBe(only(text, record)?.uuid);
  });

  it('hides from a plan what it reaches', () => {
    const mapping = (more: object): DeclaredMapping =>
      (
        getSourceType('jsonl').block.parse({
          type: 'jsonl',
          from: 'x',
          mapping: { ...base, spreadColumns: ['details'], ...hash('email'), ...more },
        }) as unknown as { mapping: DeclaredMapping }
      ).mapping;
    const hide = (more: object, details: unknown) => createHideHashed(mapping(more))?.({ details });
    expect(hide({}, { email: SECRET, n: 1 })).toEqual({ details: { email: '(hashed)', n: 1 } });
    expect(hide(text, `{"email":"${SECRET}"}`)).toEqual({ details: { email: '(hashed)' } });
    for (const broken of [SECRET, `{"email":"${SECRET}"`])
      expect(hide(text, broken)).toEqual({ details: '(hashed)' });
  });
});

describe('types and values', () => {
  it.each<[string, object, object, object]>([
    ['types', { types: { n: 'number' } }, { details: { n: '7' } }, { n: 7 }],
    ['types in text', { ...text, types: { n: 'number' } }, { details: '{"n":"7"}' }, { n: 7 }],
    [
      'types of a whole path first',
      { types: { n: 'boolean', 'details.n': 'number' } },
      { details: { n: '7' } },
      { n: 7 },
    ],
    [
      'types of a nested one',
      { types: { 'in.n': 'number' } },
      { details: { in: { n: '7' } } },
      { in: { n: 7 } },
    ],
    ['values', { values: { plan: { 1: 'free' } } }, { details: { plan: 1 } }, { plan: 'free' }],
    [
      'values in text',
      { ...text, values: { plan: { 1: 'free' } } },
      { details: '{"plan":1}' },
      { plan: 'free' },
    ],
    [
      'both',
      { values: { n: { none: 0 } }, types: { n: 'number' } },
      { n: 'none', details: { n: '7' } },
      { n: 0, source_n: 7 },
    ],
    [
      'items',
      { ...unnest, spreadColumns: ['items'], types: { n: 'number' } },
      { items: [{ n: '7' }] },
      { n: 7 },
    ],
    ['no value', { values: { plan: { none: null } } }, { details: { plan: 'none' } }, {}],
  ])('%s', (_, mapping, record, properties) => {
    expect(only(mapping, record)?.properties).toMatchObject(properties);
  });

  it('reject what is not of its type, by its whole path', () => {
    expect(map({ types: { n: 'number' } }, { details: { n: 'many' } })).toMatchObject({
      kind: 'rejected',
      detail: 'details.n is "many"; the manifest says it is a number with a decimal point',
    });
  });

  it('find nothing in what is hashed by its whole path, or is excluded', () => {
    const own = { ...hash('details.n'), types: { n: 'number' } };
    expect(only(own, { n: '7', details: { n: '8' } })?.properties).toMatchObject({
      n: 7,
      source_n: hashed('8'),
    });
    expect(map({ exclude: ['details'], types: { n: 'number' } }, { details: { n: 'many' } }).kind).toBe(
      'mapped',
    );
  });
});

it('a list among the fields is not unnested, and a plan says so', () => {
  const mapping = { ...base, exclude: [], rename: {}, groups: [], jsonColumns: [], nullValues: [] };
  const found = findUnmatched(
    { ...mapping, spreadColumns: ['details'], unnest: { column: 'items' } } as unknown as DeclaredMapping,
    [{ details: { items: [1] } }],
  );
  expect(found).toEqual([expect.stringContaining('mapping.unnest names "items"')]);
});
