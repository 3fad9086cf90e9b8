import { describe, expect, it } from 'vitest';
import { createMapper } from '../../create-mapper.ts';

/** What the items of one record may cost: an import that dies of one record dies of it again at every resume. */

const mapping = {
  event: { constant: 'Bought' },
  distinctId: { column: 'user' },
  anonymousId: { column: 'dev' },
  timestamp: { column: 'at' },
  unnest: { column: 'items' },
};
const record = { user: 'bob', dev: 'tablet', at: '2023-01-02T00:00:00.000Z' };
const map = (fields: object, more: object = {}) =>
  createMapper('jsonl', { mapping: { ...mapping, ...more } })({ ...record, ...fields });
const pair = { kind: 'pair', anonId: 'tablet', userId: 'bob' };

describe('a record with a million items', () => {
  const items = Array.from({ length: 1_000_000 }, (_, index) => index % 3);

  it('is a reject that says once who used the device', () => {
    expect(map({ items })).toMatchObject({
      kind: 'rejected',
      reason: 'bad_field',
      heard: { userIds: ['bob'], facts: [pair] },
    });
  });

  it('says it of each user that the items name', () => {
    const users = ['ann', 'bob', 'eve'].map((user) => ({ user }));
    const outcome = map(
      { items: items.map((index) => users[index]) },
      { distinctId: { column: 'items.user' } },
    );
    expect(outcome).toMatchObject({ kind: 'rejected', heard: { userIds: ['ann', 'bob', 'eve'] } });
    expect(outcome.heard?.facts).toHaveLength(3);
  });
});

const fill = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`field${n}`, n]));

it.each([
  ['fields', fill(3_000)],
  ['text', { text: 'x'.repeat(300_000) }],
])('a record whose items would repeat too many %s is a reject before any event is made', (_, fields) => {
  const items = new Array<number>(1000).fill(1);
  expect(map({ ...fields, items })).toMatchObject({
    kind: 'rejected',
    reason: 'record_too_large',
    detail: expect.stringMatching(/^items has 1000 items, and each event would carry the other \d+ fields/),
    heard: { userIds: ['bob'], facts: [pair] },
  });
});

it.each([
  ['many items of few fields', 1000, fill(500)],
  ['few items of many fields', 30, fill(10_000)],
])('a record of %s is mapped', (_, count, fields) => {
  const outcome = map({ ...fields, items: new Array<number>(count).fill(1) });
  expect(outcome.kind === 'mapped' && outcome.events.length).toBe(count);
});
