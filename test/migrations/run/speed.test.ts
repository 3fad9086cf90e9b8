import fc from 'fast-check';
import { expect, test } from 'vitest';
import { zeroCounts } from '../../../src/contract/counts.ts';
import { type Speed, Speedometer } from '../../../src/migrations/run/speed.ts';

const counts = (read: number, delivered = read) => ({ ...zeroCounts(), read, delivered });

interface Run {
  readonly total: number;
  /** Share of the records that become an event. */
  readonly share: number;
  readonly cap: number;
  /** Records a second that the machine can do. */
  readonly speed: number;
}

/** No run of these tests takes two hours. */
const MOST_MS = 7_200_000;

/** A run in steps of 100 ms under a sliding window of a minute; what is measured at each, and when it ended. */
function simulate({ total, share, cap, speed }: Run): {
  measured: (Speed & { atMs: number })[];
  endMs: number;
} {
  const meter = new Speedometer(cap);
  const measured: (Speed & { atMs: number })[] = [];
  const sent: { atMs: number; events: number }[] = [];
  let read = 0;
  let delivered = 0;
  for (let atMs = 0; atMs < MOST_MS; atMs += 100) {
    while ((sent[0]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs - 60_000) sent.shift();
    const free = cap - sent.reduce((sum, { events }) => sum + events, 0);
    const records = Math.max(0, Math.min(total - read, speed / 10, Math.floor(free / share)));
    const events = Math.round((read + records) * share) - delivered;
    read += records;
    delivered += events;
    if (events > 0) sent.push({ atMs, events });
    meter.add(counts(read, delivered), atMs);
    if (read >= total) return { measured, endMs: atMs };
    measured.push({ ...meter.measure(counts(read, delivered), total, atMs), atMs });
  }
  throw new Error(`a run of ${total} records at ${speed} a second did not end`);
}

const furthestOff = (run: Run): number => {
  const { measured, endMs } = simulate(run);
  return Math.max(
    0,
    ...measured
      .filter(({ atMs }) => atMs > 60_000)
      // The last seconds are short for any share.
      .filter(({ atMs }) => endMs - atMs > 30_000)
      .map(({ atMs, secondsLeft = 0 }) => Math.abs((secondsLeft * 1000) / (endMs - atMs) - 1)),
  );
};

test('the time left is within a tenth after the first minute, at a steady budget that is sent in bursts', () => {
  expect(furthestOff({ total: 95_000, share: 1, cap: 10_000, speed: 2_500 })).toBeLessThan(0.1);
});

test('and at any speed above or below the budget', () => {
  const run = fc.record({
    cap: fc.integer({ min: 1_000, max: 20_000 }),
    share: fc.constantFrom(1, 0.8, 0.5),
    speedShare: fc.constantFrom(0.3, 0.8, 1.5, 10),
    // Where the last event is the first one of a window, or the last one before, is decided by one record.
    minutes: fc
      .tuple(fc.integer({ min: 2, max: 12 }), fc.double({ min: 0.1, max: 0.9, noNaN: true }))
      .map(([a, b]) => a + b),
  });
  fc.assert(
    fc.property(run, ({ cap, share, speedShare, minutes }) => {
      const perMinute = Math.min(cap, cap * speedShare) / share;
      const off = furthestOff({
        cap,
        share,
        speed: Math.ceil((cap * speedShare) / share / 60),
        total: Math.round(perMinute * minutes),
      });
      expect(off).toBeLessThan(0.1);
    }),
    { numRuns: 12 },
  );
});

test('knows no end before anything was imported, and while files are staged', () => {
  const meter = new Speedometer(10_000);
  expect(meter.measure(counts(0), 100, 0)).toEqual({
    recordsPerSecond: 0,
    secondsLeft: undefined,
    heldByBudget: false,
  });
  meter.add(counts(0), 0);
  meter.add(counts(500), 1_000);
  expect(meter.measure(counts(500), undefined, 1_000)).toEqual({
    recordsPerSecond: 500,
    secondsLeft: undefined,
    heldByBudget: false,
  });
  expect(meter.measure(counts(500), 1_500, 1_000)).toEqual({
    recordsPerSecond: 500,
    secondsLeft: 2,
    heldByBudget: false,
  });
});

test('a run that stands still has no end in sight', () => {
  const meter = new Speedometer(undefined);
  meter.add(counts(500), 0);
  for (let atMs = 0; atMs <= 120_000; atMs += 1_000) meter.add(counts(500), atMs);
  expect(meter.measure(counts(500), 1_000, 120_000)).toEqual({
    recordsPerSecond: 0,
    secondsLeft: undefined,
    heldByBudget: false,
  });
});
