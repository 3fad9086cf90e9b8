import { describe, expect, it } from 'vitest';
import { toCoverage } from '../../../src/migrations/schedule/coverage.ts';

const counts = (read: number) => ({ read, delivered: read, skipped: 0, duplicate: 0, rejected: 0 });
const take = (at: string, days: Readonly<Record<string, number>>) => ({
  at,
  byDay: new Map(Object.entries(days).map(([day, read]) => [day, counts(read)])),
});

describe('coverage', () => {
  it('adds up what came of a day, and says when', () => {
    const { days } = toCoverage([
      take('t1', { '2024-03-01': 2, '2024-03-02': 1 }),
      take('t2', { '2024-03-02': 4 }),
    ]);
    expect(days).toEqual([
      { day: '2024-03-01', counts: counts(2), late: 0, firstAt: 't1', lastAt: 't1' },
      { day: '2024-03-02', counts: counts(5), late: 0, firstAt: 't1', lastAt: 't2' },
    ]);
  });

  it('calls late what comes when a later day is in already', () => {
    const { days } = toCoverage([
      take('t1', { '2024-03-03': 1 }),
      take('t2', { '2024-03-04': 1, '2024-03-02': 7, '2024-03-03': 3 }),
      take('t3', { '2024-03-03': 2 }),
    ]);
    expect(days.map(({ day, late }) => [day, late])).toEqual([
      ['2024-03-02', 7],
      ['2024-03-03', 2],
      ['2024-03-04', 0],
    ]);
  });

  it('names the days between others of which nothing is in', () => {
    const days = { '2024-02-27': 1, '2024-03-01': 1, '2024-03-02': 1, '2024-03-04': 1 };
    expect(toCoverage([take('t1', days)]).missing).toEqual([
      { from: '2024-02-28', to: '2024-02-29' },
      { from: '2024-03-03', to: '2024-03-03' },
    ]);
  });

  it('keeps records apart that have no day', () => {
    expect(toCoverage([take('t1', { unknown: 3, '2024-03-02': 1 })])).toMatchObject({
      undated: 3,
      days: [{ day: '2024-03-02', late: 0 }],
    });
    expect(toCoverage([])).toEqual({ days: [], missing: [], undated: 0 });
  });
});
