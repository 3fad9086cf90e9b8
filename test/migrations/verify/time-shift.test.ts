import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { explainShift } from '../../../src/migrations/verify/time-shift.ts';

const toDay = (index: number) => new Date(Date.UTC(2024, 1, 1 + index)).toISOString().slice(0, 10);
const toDifferences = (old: readonly number[], now: readonly number[]) =>
  old.map((before, index) => {
    const after = now[index] ?? 0;
    return { day: toDay(index), old: before, now: after, left: after - before };
  });

/** Days of a vendor, and what of each is on the next day in UTC. */
const history = fc
  .array(fc.record({ count: fc.nat(1000), late: fc.nat(100) }), { minLength: 1, maxLength: 40 })
  .map((days) => {
    const old = [...days.map(({ count }) => count), 0];
    const moved = old.map((count, index) => Math.floor((count * (days[index]?.late ?? 0)) / 100));
    const now = old.map((count, index) => count - (moved[index] ?? 0) + (moved[index - 1] ?? 0));
    return { old, now };
  });

describe('a vendor in another time zone', () => {
  it('is explained west of Greenwich, and east of it', () => {
    fc.assert(
      fc.property(history, fc.boolean(), ({ old, now }, isEast) => {
        const days = toDifferences(isEast ? old.toReversed() : old, isEast ? now.toReversed() : now);
        const moves = explainShift(days);
        for (const { day, left } of days) expect(moves.get(day) ?? 0).toBe(left);
      }),
    );
  });

  it('is explained beside events that one day lacks for another reason', () => {
    fc.assert(
      fc.property(history, fc.nat(), fc.integer({ min: 1, max: 50 }), ({ old, now }, at, missing) => {
        const index = at % old.length;
        fc.pre((now[index] ?? 0) >= missing);
        const fewer = now.map((count, day) => (day === index ? count - missing : count));
        const days = toDifferences(old, fewer);
        const moves = explainShift(days, missing);
        const open = days.map(({ day, left }) => left - (moves.get(day) ?? 0));
        expect(open.filter((count) => count !== 0)).toEqual([-missing]);
      }),
    );
  });

  it('never explains what does not add up to nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(500), fc.nat(500)), { minLength: 1, maxLength: 30 }), (pairs) => {
        const days = toDifferences(
          pairs.map(([old]) => old),
          pairs.map(([, now]) => now),
        );
        const moves = [...explainShift(days)];
        expect(moves.reduce((sum, [, move]) => sum + move, 0)).toBe(0);
        const left = new Map(days.map((each) => [each.day, each.left]));
        for (const [day, move] of moves) expect(move).toBe(left.get(day));
      }),
    );
  });

  it('does not hide a loss behind a gain that is no neighbour', () => {
    const days = toDifferences([100, 0, 0, 100], [90, 0, 0, 110]);
    expect(explainShift(days).size).toBe(0);
  });

  it('moves no more than a day has, and nothing over days that are missing', () => {
    expect(explainShift(toDifferences([5, 0], [0, 6])).size).toBe(0);
    const [first, , third] = toDifferences([10, 0, 0], [0, 0, 10]);
    expect(explainShift([first, third].filter((day) => day !== undefined)).size).toBe(0);
  });
});
