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
  /** That are sent at once, as the meter knows it. @default those of 20 s */
  readonly eventsInFlight?: number;
}

/** No run of these tests takes two hours. */
const MOST_MS = 7_200_000;

/** A run in steps of 100 ms that is sent as fast as budget and machine let it; what is measured at each, and its end. */
function simulate({ total, share, cap, speed, eventsInFlight = cap / 3 }: Run): Measured {
  const meter = new Speedometer({ eventsPerMinute: cap, eventsInFlight });
  const measured: Measured['measured'] = [];
  let read = 0;
  for (let atMs = 0; atMs < MOST_MS; atMs += 100) {
    read = Math.min(total, read + Math.min(speed, cap / 60 / share) / 10);
    const now = counts(Math.floor(read), Math.floor(Math.floor(read) * share));
    meter.add(now, atMs);
    if (read >= total) return { measured, endMs: atMs };
    measured.push({ ...meter.measure(now, total, atMs), atMs });
  }
  throw new Error(`a run of ${total} records at ${speed} a second did not end`);
}

interface Measured {
  readonly measured: (Speed & { atMs: number })[];
  readonly endMs: number;
}

interface BatchRun {
  readonly total: number;
  readonly cap: number;
  readonly batch: number;
  /** Batches that wait for their permits in turn. */
  readonly inFlight: number;
  /** Of a request. */
  readonly latencyMs: number;
  /** Before the first permit. */
  readonly waitMs: number;
  /** Records of a small file that were done before: one is an event. @default 0 */
  readonly before?: number;
}

const PERMITS_PER_WINDOW = 20;

/** Batches in requests of a twentieth of the budget, each as long after the last one as the budget asks for (I6). */
function simulateBatches({ total, cap, batch, inFlight, latencyMs, waitMs, before = 0 }: BatchRun): Measured {
  const meter = new Speedometer({ eventsPerMinute: cap, eventsInFlight: batch * inFlight });
  const measured: Measured['measured'] = [];
  const size = Math.floor(cap / PERMITS_PER_WINDOW);
  const waiting: { toSend: number; events: number }[] = [];
  const sent: { events: number; isLast: boolean; answeredMs: number }[] = [];
  let [begun, delivered, nextMs] = [0, 0, waitMs];
  for (let atMs = 0; atMs < MOST_MS; atMs += 100) {
    while ((sent[0]?.answeredMs ?? Number.POSITIVE_INFINITY) <= atMs) {
      const { events, isLast } = sent.shift() ?? { events: 0, isLast: false };
      if (isLast) delivered += events;
    }
    while (waiting.length < inFlight && begun < total) {
      const events = Math.min(batch, total - begun);
      waiting.push({ toSend: events, events });
      begun += events;
    }
    const first = nextMs <= atMs ? waiting.shift() : undefined;
    if (first) {
      const events = Math.min(size, first.toSend);
      const toSend = first.toSend - events;
      sent.push({ events: first.events, isLast: toSend === 0, answeredMs: atMs + latencyMs });
      if (toSend > 0) waiting.push({ ...first, toSend });
      // A permit is occupied while its request runs.
      nextMs += (events * (60_000 + latencyMs)) / cap;
    }
    const small = atMs < latencyMs ? 0 : before;
    const now = counts(small + delivered, Math.min(1, small) + delivered);
    meter.add(now, atMs);
    if (delivered >= total) return { measured, endMs: atMs };
    measured.push({ ...meter.measure(now, before + total, atMs), atMs });
  }
  throw new Error(`a run of ${total} records did not end`);
}

/** The furthest that a time left is from what was left, after the first minute of sending. */
const findFurthest = ({ measured, endMs }: Measured, firstMs = 60_000, lastMs = 30_000): number =>
  Math.max(
    0,
    ...measured
      .filter(({ atMs }) => atMs > firstMs)
      // The last seconds are short for any share.
      .filter(({ atMs }) => endMs - atMs > lastMs)
      .map(({ atMs, secondsLeft = 0 }) => Math.abs((secondsLeft * 1000) / (endMs - atMs) - 1)),
  );
const furthestOff = (run: Run): number => findFurthest(simulate(run));

test('the time left is within a tenth after the first minute, at a steady budget', () => {
  expect(furthestOff({ total: 95_000, share: 1, cap: 10_000, speed: 2_500 })).toBeLessThan(0.1);
});

test.each([
  { cap: 3_000, batch: 1_000, inFlight: 4, latencyMs: 300 },
  { cap: 6_000, batch: 1_000, inFlight: 8, latencyMs: 300 },
  { cap: 6_000, batch: 1_000, inFlight: 4, latencyMs: 4_000 },
  { cap: 10_000, batch: 1_000, inFlight: 8, latencyMs: 1_000 },
  { cap: 10_000, batch: 500, inFlight: 4, latencyMs: 50 },
])(
  'and where $inFlight batches of $batch are seen at once, at $cap a minute and $latencyMs ms a request',
  (run) => {
    for (const waitMs of [0, 60_000]) {
      const measured = simulateBatches({ ...run, total: run.cap * 12.3, waitMs });
      // Before the first ones are seen, nothing is known; and when the last ones come, one of these makes a share.
      const heapMs = (run.inFlight * run.batch * (60_000 + run.latencyMs)) / run.cap;
      const off = findFurthest(measured, waitMs + Math.max(60_000, heapMs), Math.max(30_000, 2.4 * heapMs));
      expect(off).toBeLessThan(0.1);
    }
  },
);

test.each([
  { cap: 600, batch: 150 },
  { cap: 3_000, batch: 1_000 },
  { cap: 10_000, batch: 1_000 },
])(
  'and, at $cap a minute, moves by no more than a tenth from second to second, also where a small file came first',
  ({ cap, batch }) => {
    const run = { cap, batch, inFlight: 4, latencyMs: 300, waitMs: 0, before: 3 };
    const { measured, endMs } = simulateBatches({ ...run, total: cap * 6 });
    const seconds = measured.filter(({ atMs }) => atMs % 1_000 === 0 && atMs >= 60_000);
    expect(seconds.every(({ secondsLeft }) => secondsLeft !== undefined)).toBe(true);
    const moves = seconds.slice(1).flatMap(({ atMs, secondsLeft = 0 }, index) => {
      const expected = (seconds[index]?.secondsLeft ?? 0) - 1;
      return endMs - atMs > 30_000 ? [Math.abs(secondsLeft / expected - 1)] : [];
    });
    expect(moves.length).toBeGreaterThan(200);
    expect(Math.max(...moves)).toBeLessThan(0.1);
  },
);

/** When each 1,000 events of a real run were seen, in s: two parts at once, 10,000 a minute, a busy machine. */
const SEEN_AT = [
  21, 23, 27, 29, 33, 35, 37, 41, 72, 74, 78, 80, 84, 86, 90, 103, 129, 131, 133, 137, 143, 145, 149, 151,
  155, 157, 161, 181, 199, 203, 205, 209, 216, 218, 222, 224, 228, 230, 234, 250, 274, 276, 280, 282, 287,
  291, 293, 301, 303, 303, 305, 321, 324, 326, 330, 332, 347, 350, 354, 362,
];

test('and where the parts that are imported at once are at different points of their heaps', () => {
  const meter = new Speedometer({ eventsPerMinute: 10_000, eventsInFlight: 4_000 });
  const total = SEEN_AT.length * 1_000;
  const endMs = Math.max(...SEEN_AT) * 1_000;
  const lefts = Array.from({ length: endMs / 1_000 }, (_, second) => {
    const now = counts(1_000 * SEEN_AT.filter((at) => at <= second).length);
    meter.add(now, second * 1_000);
    return meter.measure(now, total, second * 1_000).secondsLeft ?? 0;
  });
  // Of the last half minute, a batch is a large share.
  const moves = lefts.slice(61, -35).map((left, at) => Math.abs(left / ((lefts[at + 60] ?? 0) - 1) - 1));
  expect(Math.max(...moves)).toBeLessThan(0.1);
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
  const meter = new Speedometer({ eventsPerMinute: 10_000, eventsInFlight: 4_000 });
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
    secondsLeft: 6,
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
