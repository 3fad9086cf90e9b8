import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/server/http/json.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { createLab, did, type Lab } from '../lab.ts';

onEveryDatabase('the lifecycle', (db) => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await createLab(db());
    await lab.api.send(
      // ann is new on 7 January, returns on 8, is dormant on 9 and resurrected on 10
      did('ann', 'view', '01-07 10:00'),
      did('ann', 'view', '01-07 11:00'),
      did('ann', 'view', '01-08 10:00'),
      did('ann', 'view', '01-10 10:00'),
      // bob was there the day before the range begins
      did('bob', 'view', '01-06 10:00'),
      did('bob', 'view', '01-07 10:00'),
      // cem was created by another event, long before, and goes dormant at the start of the range
      did('cem', 'other', '01-01 10:00'),
      did('cem', 'view', '01-06 10:00'),
      // dan's visitor makes him older than his own first event
      did('visitor', 'other', '01-08 10:00'),
      did('dan', '$identify', '01-08 11:00', { $anon_distinct_id: 'visitor' }),
      did('dan', 'view', '01-09 10:00'),
      // nobody's event is nobody's creation
      did('robot', 'view', '01-09 10:00', { $process_person_profile: false }),
    );
  });

  const events = [{ id: 'view', type: 'events', name: 'View' }];
  const statuses = async (filters: JsonObject) => {
    const shown = await lab.compute('LIFECYCLE', { events, date_from: '2024-01-07', ...filters });
    return Object.fromEntries(shown.map(({ status, data }) => [status, data]));
  };

  test('tells new, returning, resurrecting and dormant people apart by the day', async () => {
    const shown = await lab.compute('LIFECYCLE', { events, date_from: '2024-01-07' });
    expect(shown.map(({ label, status, count }) => [label, status, count])).toEqual([
      ['View - new', 'new', 1],
      ['View - returning', 'returning', 2],
      ['View - resurrecting', 'resurrecting', 3],
      ['View - dormant', 'dormant', -5],
    ]);
    expect(shown[0]?.days).toEqual(['2024-01-07', '2024-01-08', '2024-01-09', '2024-01-10']);
    expect(shown[0]?.labels[3]).toBe('10-Jan-2024');
    expect(shown.map(({ data }) => data)).toEqual([
      [1, 0, 0, 0],
      [1, 1, 0, 0],
      [0, 0, 2, 1],
      [-1, -1, -1, -2],
    ]);
  });

  test('counts by the week', async () => {
    expect(await statuses({ interval: 'week', date_from: '2024-01-01' })).toEqual({
      // bob's week is that of 31 December, cem was created in it
      new: [2, 2],
      returning: [0, 1],
      resurrecting: [0, 1],
      dormant: [0, -1],
    });
  });

  test('of a project without events is zero, never a negative nothing', async () => {
    const empty = await createLab(db());
    const shown = await empty.compute('LIFECYCLE', { events, date_from: '2024-01-10' });
    expect(shown.map(({ data, count }) => [data, count])).toEqual([
      [[0], 0],
      [[0], 0],
      [[0], 0],
      [[0], 0],
    ]);
  });

  test('is empty where a range ends before it begins', async () => {
    expect(await statuses({ date_to: '2024-01-05' })).toEqual({
      new: [],
      returning: [],
      resurrecting: [],
      dormant: [],
    });
  });
});
