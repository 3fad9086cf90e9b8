import { expect, it } from 'vitest';
import { addThroughput, MAX_POINTS } from '../../../src/migrations/run/throughput.ts';
import type { Throughput } from '../../../src/state/progress-note.ts';

const add = (history: Throughput | undefined, seconds: number, events: number) =>
  addThroughput(history, { atMs: seconds * 1000, events });

it('counts what is new in the interval in which it was accepted', () => {
  let history = add(undefined, 103, 0);
  for (const [seconds, events] of [
    [105, 40],
    [109, 50],
    [110, 70],
    [131, 100],
  ] as const)
    history = add(history, seconds, events);
  expect(history).toEqual({ fromMs: 100_000, stepMs: 10_000, events: [50, 20, 0, 30], total: 100 });
});

it('counts nothing twice that a resume counts again, and what follows', () => {
  const before = add(add(undefined, 0, 0), 5, 100);
  const resumed = add(add(add(before, 25, 0), 26, 80), 35, 130);
  expect(resumed).toMatchObject({ events: [100, 0, 0, 30], total: 130 });
});

it('widens its intervals where they would be too many, and loses no event', () => {
  let history = add(undefined, 0, 0);
  const last = MAX_POINTS * 10;
  for (let seconds = 10; seconds < last; seconds += 10) history = add(history, seconds, seconds);
  expect(history).toMatchObject({ stepMs: 10_000, events: { length: MAX_POINTS } });
  history = add(history, last, last);
  expect(history).toMatchObject({ stepMs: 20_000, events: { length: MAX_POINTS / 2 + 1 } });
  history = add(history, 400 * 86_400, last + 7); // paused for more than a year
  expect(history.events.length).toBeLessThanOrEqual(MAX_POINTS);
  expect(history.events.reduce((sum, one) => sum + one, 0)).toBe(last + 7);
  expect(history.events.at(-1)).toBe(7);
});

it('bears a clock that goes back', () => {
  const history = add(add(add(undefined, 100, 0), 125, 5), 80, 9);
  expect(history).toMatchObject({ fromMs: 100_000, events: [0, 0, 9] });
});
