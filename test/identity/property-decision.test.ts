import { describe, expect, it } from 'vitest';
import { decideProperty, isLaterValue } from '../../src/identity/property-decision.ts';

/** A value of time 5 that was sent in turn 1; now is turn 3, and turn 1 has ended or not. */
const decide = (
  timeMs: number,
  { ended, keep = 'latest', sentAt = 1 }: { ended: boolean; keep?: 'latest' | 'earliest'; sentAt?: number },
) =>
  decideProperty(
    { timeMs: 5, sentAt, replaced: true, isLater: false, isHeldBack: false },
    { timeMs, keep, replaces: true },
    { turn: 3, hasEnded: () => ended },
  );

describe('of a property that another turn has entered', () => {
  it.each([
    { timeMs: 4, keep: 'latest', ended: 'known', open: 'fill' },
    { timeMs: 5, keep: 'latest', ended: 'known', open: 'send' },
    { timeMs: 6, keep: 'latest', ended: 'send', open: 'send' },
    { timeMs: 4, keep: 'earliest', ended: 'send', open: 'send' },
    { timeMs: 5, keep: 'earliest', ended: 'known', open: 'send' },
    { timeMs: 6, keep: 'earliest', ended: 'known', open: 'fill' },
  ] as const)('a value of time $timeMs where the $keep counts', ({ timeMs, keep, ended, open }) => {
    expect(decide(timeMs, { ended: true, keep })).toBe(ended);
    expect(decide(timeMs, { ended: false, keep })).toBe(open);
  });
});

it('what this turn has entered is decided as before', () => {
  expect(decide(5, { ended: false, sentAt: 3 })).toBe('send');
  expect(decide(4, { ended: false, sentAt: 3 })).toBe('known');
});

it('a value is a later one where one of another time is known, and stays what it was when it is taken again', () => {
  const known = { timeMs: 5, sentAt: 1, replaced: true };
  expect(isLaterValue(undefined, 5)).toBe(false);
  expect(isLaterValue({ ...known, isLater: false, isHeldBack: false }, 6)).toBe(true);
  expect(isLaterValue({ ...known, isLater: false, isHeldBack: false }, 5)).toBe(false);
  expect(isLaterValue({ ...known, isLater: true, isHeldBack: false }, 5)).toBe(true);
});
