import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import type { Delivery } from '../../src/contract/delivery.ts';
import { mapped } from '../../src/contract/outcome.ts';
import { BatchBuilder, type BatchLimits } from '../../src/deliver/batch-builder.ts';
import { createUnlimitedBudget } from '../../src/deliver/budget/budget.ts';
import { createDeliver } from '../../src/deliver/deliver.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import { advance } from '../../src/pipeline/advance.ts';
import { Fingerprints } from '../../src/pipeline/fingerprints.ts';
import { mapToBatches } from '../../src/pipeline/map-to-batches.ts';
import { Outcomes } from '../../src/pipeline/outcomes.ts';
import { emptyTally } from '../../src/pipeline/tally.ts';
import { createBytesParser } from '../../src/sources/formats/parse-record.ts';
import { FrameWriter } from '../../src/state/frames.ts';
import { decodeFrames } from '../../src/state/part-records.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { numbers, targetEvent } from '../support/target-events.ts';

const API_KEY = 'phc_a_project_key';
const KIB = 1024;
const toStop: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop();
});

/** Imports one record for each of these numbers of events, each of so many bytes of text. */
async function importRecords(eventsOf: readonly number[], textBytes: number, limits: BatchLimits) {
  const destination = await startStrictDestination({ apiKey: API_KEY });
  toStop.push(destination.stop);
  const { deliver, close } = createDeliver({
    destination: { url: destination.url, apiKey: API_KEY },
    limits: { requestsInFlight: 1, request: limits },
    budget: createUnlimitedBudget(),
    random: Math.random,
    now: Date.now,
    log: pino({ enabled: false }),
  });
  toStop.push(close);

  const frames = new FrameWriter(undefined);
  for (const n of eventsOf.keys())
    frames.add({ kind: 'record', member: undefined, line: n + 1, bytes: Buffer.from(JSON.stringify({ n })) });
  const records = decodeFrames(frames.take());
  const outcomes = new Outcomes(records.count);
  const text = 'x'.repeat(textBytes);
  const batches = new BatchBuilder(limits);
  let checkpoint = { part: 'p', position: 0, tally: emptyTally(), rejectSegments: [] };
  const positions: number[] = [];
  const reasons: string[] = [];
  for await (const { segment, batch } of mapToBatches(records, 0, {
    parse: createBytesParser({ kind: 'json' }, undefined),
    map: ({ n }) =>
      mapped(numbers(eventsOf[Number(n)] ?? 0).map((at) => targetEvent(Number(n) * 1000 + at, { text }))),
    batches,
    outcomes,
    facts: new FactFold(),
    fingerprints: new Fingerprints(records.count),
  })) {
    const deliveries: readonly Delivery[] = batch ? await deliver(batch, new AbortController().signal) : [];
    const step = advance(checkpoint, segment, outcomes, deliveries, new Map());
    checkpoint = step.checkpoint as typeof checkpoint;
    positions.push(checkpoint.position);
    reasons.push(...step.rejects.map(({ reason, detail }) => `${reason}: ${detail}`));
  }
  return { destination, tally: checkpoint.tally, positions, reasons, memory: batches.text.bytes.length };
}

const roomy = { events: 1000, bytes: 5 * KIB * KIB, eventBytes: 900 * KIB };

it('sends a record of more events than one request may have in several, and counts it once', async () => {
  const limits = { ...roomy, events: 10 };
  const { destination, tally, positions } = await importRecords([3, 25, 4], 10, limits);
  expect(destination.requests.map(({ status, events }) => [status, events])).toEqual([
    [200, 3],
    [200, 10],
    [200, 10],
    [200, 5],
    [200, 4],
  ]);
  expect(positions).toEqual([1, 2, 3]);
  expect(tally.counts).toMatchObject({ read: 3, delivered: 3, rejected: 0 });
  expect(tally.events).toEqual({ sent: 32, accepted: 32 });
  expect(destination.events().size).toBe(32);
});

it('keeps each request of such a record within its bytes', async () => {
  const { destination, tally } = await importRecords([7], 800 * KIB, roomy);
  expect(tally.counts).toMatchObject({ delivered: 1 });
  expect(destination.events().size).toBe(7);
  expect(destination.requests.map(({ events }) => events)).toEqual([6, 1]);
  for (const { bytes } of destination.requests) expect(bytes).toBeLessThanOrEqual(roomy.bytes);
});

it.each([{ events: 1 }, { events: 25 }, { bytes: 64 * KIB }])(
  'gives the same outcomes under other limits of a request: %o',
  async (limits) => {
    const { tally } = await importRecords([1, 25, 2], 300, { ...roomy, ...limits });
    expect(tally.counts).toMatchObject({ delivered: 3 });
    expect(tally.events).toEqual({ sent: 28, accepted: 28 });
  },
);

it('names the limit by which an event is too large', async () => {
  const lower = await importRecords([1], 70 * KIB, { ...roomy, bytes: 64 * KIB });
  expect(lower.reasons).toEqual([expect.stringMatching(/^event_too_large: .* limits\.batch\.bytes leaves/)]);
  const largest = await importRecords([2], 901 * KIB, roomy);
  expect(largest.reasons).toEqual([
    expect.stringMatching(/^event_too_large: .* more than 921600 bytes, the most of one event;/),
  ]);
});

it.each([
  { textBytes: 800 * KIB, reason: /^record_too_large: .* more than 16777216 bytes together/ },
  { textBytes: 4_900 * KIB, reason: /^event_too_large: .* more than 921600 bytes/ },
])('rejects a thousand events of $textBytes bytes by the first of them', async ({ textBytes, reason }) => {
  const { destination, tally, reasons, memory } = await importRecords([1000, 1000], textBytes, roomy);
  expect(reasons).toEqual([expect.stringMatching(reason), expect.stringMatching(reason)]);
  expect(tally.counts).toMatchObject({ read: 2, rejected: 2 });
  expect(destination.requests).toEqual([]);
  expect(memory).toBeLessThan(64 * KIB * KIB);
});
