import { expect, test } from 'vitest';
import { createWatches } from '../../../src/server/database/watches.ts';

test('counts statements that may change a table', () => {
  const { watch, note } = createWatches();
  const count = watch(['persons', 'groups']);
  for (const text of [
    'update persons set properties = $1',
    'insert into groups values (1)',
    'delete from only persons',
    'with gone as (delete from persons returning id) select count(*) from gone',
    'truncate events, persons',
    'create index on persons (id)',
  ]) {
    const before = count();
    note(text);
    expect(count(), text).toBe(before + 1);
  }
});

test('leaves out what reads alone, and what names other tables', () => {
  const { watch, note } = createWatches();
  const count = watch(['persons']);
  for (const text of [
    'select * from persons for update',
    '\n  select id from persons',
    'insert into person_distinct_ids values (1)',
    'insert into events values (1)',
    'begin',
    'commit',
  ]) {
    note(text);
    expect(count(), text).toBe(0);
  }
});

test('every watch counts for itself', () => {
  const { watch, note } = createWatches();
  const [persons, groups] = [watch(['persons']), watch(['groups'])];
  note('delete from groups');
  expect([persons(), groups()]).toEqual([0, 1]);
});
