import { describe, expect, it } from 'vitest';
import type { RecordCounts } from '../../../src/contract/progress.ts';
import {
  compareDestination,
  compareUsersByEvent,
  type Held,
} from '../../../src/migrations/verify/compare-destination.ts';
import type { Outcomes } from '../../../src/migrations/verify/outcomes-of.ts';

const delivered = (count: number): RecordCounts => ({
  read: count,
  delivered: count,
  skipped: 0,
  duplicate: 0,
  rejected: 0,
});
const outcomes: Outcomes = {
  byDay: {
    '2024-02-01': delivered(4),
    '2024-02-02': delivered(2),
    unknown: { ...delivered(0), read: 3, rejected: 3 },
  },
  byEvent: { a: delivered(6) },
  byReason: {},
  delivered: 6,
  distinct: 6,
  synthetic: 0,
  isOneToOne: true,
};
const held = (more: Partial<Held> = {}): Held => ({
  byDay: new Map([
    ['2024-02-01', 4],
    ['2024-02-02', 2],
  ]),
  byEvent: new Map([['a', 6]]),
  total: 6,
  usersByMonth: new Map([['2024-02', 2]]),
  others: 0,
  ...more,
});
const compare = (more: Partial<Parameters<typeof compareDestination>[0]> = {}) => {
  const { total, tables } = compareDestination({
    outcomes,
    held: held(),
    heldSynthetic: 0,
    isStamped: true,
    uniques: undefined,
    ...more,
  });
  const rows = Object.fromEntries(tables.map(({ by, rows: of }) => [by, of]));
  return { total, rows };
};

describe('the destination', () => {
  it('holds what the report says; days without an event are left out', () => {
    const { total, rows } = compare();
    expect(total).toEqual({ key: 'all', old: 6, now: 6, causes: [], unexplained: 0 });
    expect(rows['day']?.map(({ key }) => key)).toEqual(['2024-02-01', '2024-02-02']);
  });

  it('lacks events, or has more than were sent', () => {
    const byDay = new Map([
      ['2024-02-01', 3],
      ['2024-02-03', 2],
    ]);
    const { rows } = compare({ held: held({ byDay }) });
    expect(rows['day']?.map(({ key, unexplained }) => [key, unexplained])).toEqual([
      ['2024-02-01', -1],
      ['2024-02-02', -2],
      ['2024-02-03', 2],
    ]);
  });

  it('may hold other events where nothing tells them apart, which never stand in for missing ones', () => {
    const byEvent = new Map([['b', 5]]);
    const { rows } = compare({ isStamped: false, held: held({ byEvent }) });
    expect(rows['event']?.map(({ key, causes, unexplained }) => [key, causes.length, unexplained])).toEqual([
      ['a', 0, -6],
      ['b', 1, 0],
    ]);
  });

  it('is compared as a whole where a record may be several events', () => {
    const { total, rows } = compare({
      outcomes: { ...outcomes, distinct: 9, isOneToOne: false },
      held: held({ total: 8 }),
    });
    expect(total).toMatchObject({ old: 9, now: 8, unexplained: -1 });
    expect(rows).toEqual({});
  });

  it('has the persons that the report expects after the merges', () => {
    const uniques = { '2024-02': { vendor: 5, destination: 2 } };
    expect(compare({ uniques }).rows['users']).toEqual([
      { key: '2024-02', old: 5, now: 2, causes: [{ cause: 'merged_persons', count: -3 }], unexplained: 0 },
    ]);
    const fewer = held({ usersByMonth: new Map([['2024-02', 1]]) });
    expect(compare({ uniques, held: fewer }).rows['users']?.[0]?.unexplained).toBe(-1);
    const more = held({ usersByMonth: new Map([['2024-02', 3]]) });
    expect(compare({ uniques, held: more }).rows['users']?.[0]?.unexplained).toBe(1);
  });

  it.each([1, 1_000])('is not said to have merged persons by %i other events', (others) => {
    const uniques = { '2024-02': { vendor: 5, destination: 4 } };
    expect(compare({ uniques, held: held({ others }) }).rows['users']).toEqual([
      { key: '2024-02', old: 5, now: 2, causes: [{ cause: 'merged_persons', count: -1 }], unexplained: -2 },
    ]);
  });
});

describe('events about persons and groups', () => {
  const sent = { ...outcomes, synthetic: 25 };

  it.each([0, 24])('are missing where %i of 25 are there', (heldSynthetic) => {
    const { total, rows } = compare({ outcomes: sent, heldSynthetic });
    expect(total.unexplained).toBe(0);
    expect(rows['people']).toEqual([
      { key: 'all', old: 25, now: heldSynthetic, causes: [], unexplained: heldSynthetic - 25 },
    ]);
  });

  it('are missing also where records are compared as a whole', () => {
    const { rows } = compare({ outcomes: { ...sent, isOneToOne: false }, heldSynthetic: 24 });
    expect(rows['people']?.map(({ unexplained }) => unexplained)).toEqual([-1]);
  });

  it.each([25, 26])('are no difference where %i of 25 are there', (heldSynthetic) => {
    expect(compare({ outcomes: sent, heldSynthetic }).rows).not.toHaveProperty('people');
  });

  it('are not judged without a stamp, as those of others count, too', () => {
    expect(compare({ outcomes: sent, isStamped: false }).rows).not.toHaveProperty('people');
  });
});

describe('users by day and event', () => {
  const cell = (users: number, count = 4) => ({ day: '2024-02-01', event: 'a', count, users });
  const unexplainedOf = (vendor: number, now: ReturnType<typeof cell>, hasMerges: boolean) =>
    compareUsersByEvent([cell(vendor)], () => now, hasMerges).rows.map(({ unexplained }) => unexplained);

  it('are fewer after merges, and never more', () => {
    expect(unexplainedOf(3, cell(2), true)).toEqual([0]);
    expect(unexplainedOf(3, cell(2), false)).toEqual([-1]);
    expect(unexplainedOf(3, cell(4), true)).toEqual([1]);
  });

  it('are compared only over the same number of events', () => {
    expect(unexplainedOf(3, cell(1, 3), false)).toEqual([]);
  });
});
