import { describe, expect, it } from 'vitest';
import { decideProperty, isLaterValue } from '../../src/identity/property-decision.ts';

/** A value of time 5 that was sent in turn 1; now is turn 3, and turn 1 has ended or not. */
const decide = (
  timeMs: number,
  { ended, keep = 'latest', sentAt = 1 }: { ended: boolean; keep?: 'latest' | 'earliest'; sentAt?: number },
) =>
  decideProperty(
    { timeMs: 5, sentAt, replaced: true, isLater: false, isHeldBack: false },
    timeMs,
    { keep, replaces: true, isOnce: false },
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

it('what is sent once is known where an ended turn sent any, before an open one or not', () => {
  const entry = { timeMs: 5, replaced: false, isLater: false, isHeldBack: false };
  const once = (known: number, before: number | undefined, keep: 'latest' | 'earliest') =>
    [4, 5, 6].map((timeMs) =>
      decideProperty(
        { ...entry, sentAt: known },
        timeMs,
        { keep, replaces: false, isOnce: true },
        { turn: 3, hasEnded: (turn) => turn === 1 },
        before === undefined ? undefined : { ...entry, sentAt: before },
      ),
    );
  for (const keep of ['latest', 'earliest'] as const) {
    expect(once(1, undefined, keep)).toEqual(['known', 'known', 'known']);
    expect(once(2, 1, keep)).toEqual(['known', 'known', 'known']);
  }
  expect(once(2, undefined, 'latest')).toEqual(['fill', 'send', 'send']);
  expect(once(3, undefined, 'latest')).toEqual(['known', 'send', 'send']);
});

it('a value is a later one where one of another time is known, and stays what it was when it is taken again', () => {
  const known = { timeMs: 5, sentAt: 1, replaced: true };
  expect(isLaterValue(undefined, 5)).toBe(false);
  expect(isLaterValue({ ...known, isLater: false, isHeldBack: false }, 6)).toBe(true);
  expect(isLaterValue({ ...known, isLater: false, isHeldBack: false }, 5)).toBe(false);
  expect(isLaterValue({ ...known, isLater: true, isHeldBack: false }, 5)).toBe(true);
});
