import { expect, test } from 'vitest';
import type { Deliver, Delivery } from '../../src/contract/delivery.ts';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import type { BatchLimits } from '../../src/deliver/batch-builder.ts';
import { getPropertiesMaxBytes } from '../../src/identity/fold-persons.ts';
import { emptyPersonsTally } from '../../src/identity/persons-tally.ts';
import { type SendCheckpoint, type SentChunk, sendChunks } from '../../src/identity/send-chunks.ts';
import { REFUSED_SAMPLE } from '../../src/identity/sent-range.ts';
import { createTestLedger, takeTestTurn } from './ledgers.ts';

const KIB = 1024;
const TIME = '2023-01-01T00:00:00.000Z';
/** The smallest that a manifest may ask for, and the default. */
const SMALL: BatchLimits = { events: 1_000, bytes: 64 * KIB, eventBytes: 64 * KIB };
const LARGE: BatchLimits = { events: 1_000, bytes: 5 * KIB * KIB, eventBytes: 900 * KIB };

const foldEvents = (facts: readonly IdentityFact[], limits: BatchLimits) =>
  takeTestTurn(createTestLedger(), facts, { maxBytes: getPropertiesMaxBytes(limits) });

async function* listChunks(...chunks: readonly SentChunk['events'][]): AsyncGenerator<SentChunk> {
  for (const [index, events] of chunks.entries())
    yield { events, tally: { ...emptyPersonsTally(), persons: events.length }, position: String(index) };
}

const { signal } = new AbortController();
const unsaved = { onProgress: () => {}, save: async () => {} };
const send = (events: SentChunk['events'], limits: BatchLimits, deliver: Deliver) =>
  sendChunks(listChunks(events), undefined, { limits, deliver, ...unsaved }, signal);

const acceptAll: Deliver = async ({ offsets }) =>
  Array.from({ length: offsets.length - 1 }, () => ({ kind: 'accepted' }));

const properties = (count: number, bytes: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, 'x'.repeat(bytes)]));

const person = (set: Record<string, unknown>): IdentityFact => ({
  kind: 'person',
  distinctId: '\u0001'.repeat(200), // each takes six bytes of JSON
  time: TIME,
  set,
});
const group = (set: Record<string, unknown>): IdentityFact => ({
  kind: 'group',
  groupType: 'company',
  groupKey: '\u0001'.repeat(190),
  time: TIME,
  set,
});

test('persons and groups with many properties arrive whole in the smallest batches, under the same uuids', async () => {
  for (const fact of [person(properties(300, 900)), group(properties(300, 900))]) {
    const { sent: events, unmerged } = await foldEvents([fact], SMALL);
    expect(unmerged).toEqual([]);
    const sent = await send(events, SMALL, acceptAll);
    expect(sent).toMatchObject({ events: { sent: events.length, accepted: events.length }, refusedCount: 0 });
    expect((await foldEvents([fact], LARGE)).sent).toEqual(events);
  }
});

test.each([
  ['smallest', SMALL],
  ['default', LARGE],
])(
  'the largest property that fits is sent in batches of the %s size, the next is set aside',
  async (_, limits) => {
    // An event holds it, or what is left of a profile does.
    const room = Math.min(getPropertiesMaxBytes(limits), 512 * KIB - '"a":1,'.length);
    const most = room - '"p0":"",'.length;
    const fits = await foldEvents([person({ a: 1, ...properties(1, most) })], limits);
    expect(fits.unmerged).toEqual([]);
    expect(await send(fits.sent, limits, acceptAll)).toMatchObject({ refusedCount: 0 });

    const over = await foldEvents([person({ a: 1, ...properties(1, most + 1) })], limits);
    expect(over.unmerged).toMatchObject([{ reason: 'property_too_large', property: 'p0' }]);
  },
);

test('all that is refused is counted, and the first few are kept', async () => {
  const facts = Array.from(
    { length: 80 },
    (_, at): IdentityFact => ({ kind: 'person', distinctId: `u${at}`, time: TIME, set: { at } }),
  );
  const refuseAll: Deliver = async ({ offsets }) =>
    Array.from({ length: offsets.length - 1 }, () => ({ kind: 'refused', detail: 'not these' }));
  const sent = await send((await foldEvents(facts, SMALL)).sent, SMALL, refuseAll);
  expect(sent).toMatchObject({ events: { sent: 80, accepted: 0 }, refusedCount: 80 });
  expect(sent.refused).toHaveLength(REFUSED_SAMPLE);
});

test('what may be stored all the same is counted as refused, and stays in the ledger as sent', async () => {
  const facts = ['u0', 'u1', 'u2'].map(
    (distinctId): IdentityFact => ({ kind: 'person', distinctId, time: TIME, set: { a: 1 } }),
  );
  const { sent: events } = await foldEvents(facts, SMALL);
  const answers: readonly Delivery[] = [
    { kind: 'accepted' },
    { kind: 'refused', detail: 'bad' },
    { kind: 'refused', detail: 'HTTP 500', mayBeStored: true },
  ];
  const kept: Uint8Array[] = [];
  async function* chunks(): AsyncGenerator<SentChunk> {
    const tally = { ...emptyPersonsTally(), persons: 3 };
    yield { events, tally, position: '0', listRecords: (event) => [Buffer.from([event])] };
  }
  const sent = await sendChunks(
    chunks(),
    undefined,
    {
      ...{ limits: SMALL, deliver: async () => [...answers], ...unsaved },
      async saveRefused(records) {
        kept.push(...records);
        return { key: 'refused', bytes: 1, count: records.length };
      },
    },
    signal,
  );
  expect(sent).toMatchObject({ events: { sent: 3, accepted: 1 }, refusedCount: 2, people: { persons: 1 } });
  expect(kept).toEqual([Buffer.from([1])]);
});

test('a group whose key alone fills an event is counted as refused', async () => {
  const { sent: events } = await foldEvents(
    [{ kind: 'group', groupType: 'company', groupKey: 'k'.repeat(70 * KIB), time: TIME, set: {} }],
    SMALL,
  );
  const sent = await send(events, SMALL, acceptAll);
  expect(sent).toMatchObject({ events: { sent: 0, accepted: 0 }, refusedCount: 1 });
  expect(sent.refused[0]?.detail).toContain('larger than one event may be');
});

test('a checkpoint is saved now and then, and what is behind it is sent on top of it', async () => {
  const { sent: events } = await foldEvents(
    Array.from(
      { length: 6 },
      (_, at): IdentityFact => ({ kind: 'person', distinctId: `u${at}`, time: TIME, set: { at } }),
    ),
    SMALL,
  );
  const [a, b, c] = [events.slice(0, 2), events.slice(2, 4), events.slice(4)];
  const saved: SendCheckpoint[] = [];
  let clockMs = 0;
  const deliver: Deliver = async (batch, within) => {
    if (clockMs > 9_000) throw new Error('killed');
    clockMs += 3_000;
    return acceptAll(batch, within);
  };
  const save = async (checkpoint: SendCheckpoint) => void saved.push(structuredClone(checkpoint));
  const deps = { limits: SMALL, deliver, onProgress: () => {}, save, now: () => clockMs };
  await sendChunks(listChunks(a, b, c), undefined, deps, signal);
  expect(saved.map(({ position, sent }) => [position, sent.events.accepted])).toEqual([['1', 4]]);

  const [before] = saved;
  clockMs = 0;
  const sent = await sendChunks(listChunks(c), before, deps, signal);
  expect(sent).toMatchObject({ events: { sent: 6, accepted: 6 }, people: { persons: 6 } });
});
