import { expect, test } from 'vitest';
import type { Deliver } from '../../src/contract/delivery.ts';
import type { IdentityFact } from '../../src/contract/identity-fact.ts';
import type { BatchLimits } from '../../src/deliver/batch-builder.ts';
import { FactFold } from '../../src/identity/fact-fold.ts';
import type { FoldedChunk } from '../../src/identity/fold-buckets.ts';
import { foldPersons, getPropertiesMaxBytes } from '../../src/identity/fold-persons.ts';
import { REFUSED_SAMPLE } from '../../src/identity/folded-range.ts';
import { emptyPersonsTally } from '../../src/identity/persons-tally.ts';
import { sendFolded } from '../../src/identity/send-folded.ts';

const KIB = 1024;
const TIME = '2023-01-01T00:00:00.000Z';
/** The smallest that a manifest may ask for, and the default. */
const SMALL: BatchLimits = { events: 1_000, bytes: 64 * KIB, eventBytes: 64 * KIB };
const LARGE: BatchLimits = { events: 1_000, bytes: 5 * KIB * KIB, eventBytes: 900 * KIB };

const foldEvents = (facts: readonly IdentityFact[], limits: BatchLimits) => {
  const known = new FactFold();
  for (const fact of facts) known.add(fact);
  const options = { overwrite: false, groupIdentifyEvent: '$group_identify' };
  const folded = [...foldPersons(known, { ...options, maxBytes: getPropertiesMaxBytes(limits) })];
  return { events: folded.flatMap(({ events }) => events), unmerged: folded.flatMap((one) => one.unmerged) };
};

async function* chunkOf(events: FoldedChunk['events']): AsyncGenerator<FoldedChunk> {
  yield { events, tally: emptyPersonsTally() };
}

const send = (events: FoldedChunk['events'], limits: BatchLimits, deliver: Deliver) =>
  sendFolded(chunkOf(events), { limits, deliver, onProgress: () => {} }, new AbortController().signal);

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
    const { events, unmerged } = foldEvents([fact], SMALL);
    expect(unmerged).toEqual([]);
    const sent = await send(events, SMALL, acceptAll);
    expect(sent).toMatchObject({ events: { sent: events.length, accepted: events.length }, refusedCount: 0 });
    expect(foldEvents([fact], LARGE).events).toEqual(events);
  }
});

test.each([
  ['smallest', SMALL],
  ['default', LARGE],
])(
  'the largest property that fits is sent in batches of the %s size, the next is set aside',
  async (_, limits) => {
    const most = getPropertiesMaxBytes(limits) - '"p0":"",'.length;
    const fits = foldEvents([person({ ...properties(1, most), small: 1 })], limits);
    expect(fits.unmerged).toEqual([]);
    expect(await send(fits.events, limits, acceptAll)).toMatchObject({ refusedCount: 0 });

    const over = foldEvents([person(properties(1, most + 1))], limits);
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
  const sent = await send(foldEvents(facts, SMALL).events, SMALL, refuseAll);
  expect(sent).toMatchObject({ events: { sent: 80, accepted: 0 }, refusedCount: 80 });
  expect(sent.refused).toHaveLength(REFUSED_SAMPLE);
});

test('a group whose key alone fills an event is counted as refused', async () => {
  const { events } = foldEvents(
    [{ kind: 'group', groupType: 'company', groupKey: 'k'.repeat(70 * KIB), time: TIME, set: {} }],
    SMALL,
  );
  const sent = await send(events, SMALL, acceptAll);
  expect(sent).toMatchObject({ events: { sent: 0, accepted: 0 }, refusedCount: 1 });
  expect(sent.refused[0]?.detail).toContain('larger than one event may be');
});
