import { expect, test } from 'vitest';
import type { MappedEvent } from '../../src/contract/event.ts';
import { mapped } from '../../src/contract/outcome.ts';
import { BatchBuilder } from '../../src/deliver/batch-builder.ts';
import { hashKey, KEY_WORDS } from '../../src/pipeline/event-hash.ts';
import { Fingerprints } from '../../src/pipeline/fingerprints.ts';
import { type MapDeps, mapToBatches } from '../../src/pipeline/map-to-batches.ts';
import { DUPLICATE, Outcomes } from '../../src/pipeline/outcomes.ts';
import type { ImportMap } from '../../src/sources/source.ts';
import { toEventKey } from '../../src/state/fingerprints.ts';
import { PartRecords } from '../../src/state/part-records.ts';

const toEvent = (event: string, uuid: number, text: string): MappedEvent => ({
  ...{ event, uuid: `0c3e5a10-1111-4b6e-8f00-00000000000${uuid}`, timestamp: '2023-01-01T00:00:00.000Z' },
  properties: { distinct_id: 'ann', text },
});

function toKey(event: MappedEvent): string {
  const words = new Int32Array(KEY_WORDS);
  hashKey(event, words);
  return toEventKey(words, 0);
}

/** Of a part of equal records: what is sent from a checkpoint on, the outcome of the last one and their fingerprints. */
async function mapOne(
  events: readonly MappedEvent[],
  from: number,
  { records = 1, ...more }: Pick<MapDeps, 'taken' | 'rejected'> & { readonly records?: number } = {},
) {
  const body = Buffer.from('{}');
  const each = <T>(value: T): T[] => Array.from({ length: records }, () => value);
  const places = { starts: each(0), ends: each(2), lines: each(0), oversize: new Map(), origins: [] };
  const outcomes = new Outcomes(records);
  const fingerprints = new Fingerprints(records);
  const sent: string[] = [];
  for await (const { batch } of mapToBatches(new PartRecords(body, undefined, places, body), from, {
    parse: () => ({ kind: 'record', value: {} }) as never,
    map: (() => mapped(events, [])) as unknown as ImportMap,
    batches: new BatchBuilder(),
    ...{ outcomes, fingerprints, ...more },
    facts: { add: () => {}, addUser: () => {}, addSeen: () => {} },
  }))
    if (batch)
      for (const { event } of JSON.parse(`[${batch.body.toString('utf8')}]`)) sent.push(String(event));
  const accepted = new Set(more.rejected?.get(0)?.accepted);
  const isRejected = more.rejected?.has(0) ?? false;
  const { rows } = fingerprints.encode(
    () => isRejected,
    outcomes.labels,
    [],
    (_, key) => accepted.has(key),
  );
  const last = records - 1;
  const repeats = outcomes.getKind(last) === DUPLICATE ? outcomes.getFirst(last) : undefined;
  return {
    ...{ sent, rows, repeats },
    rejection: outcomes.getRejection(last),
    withheld: outcomes.getWithheld(last),
  };
}

const OPENED = toEvent('Opened', 1, 'a');
const CLOSED = toEvent('Closed', 2, 'a');
const TAKEN = new Map([[toKey(OPENED), new Set(['the content of a record that is gone'])]]);

test('what was sent before others of its family were removed keeps its fingerprint', async () => {
  expect(await mapOne([OPENED], 0, { taken: TAKEN })).toMatchObject({
    sent: [],
    rows: 0,
    rejection: { reason: 'same_id_other_content' },
  });
  expect(await mapOne([OPENED], 1, { taken: TAKEN })).toMatchObject({ rows: 1, rejection: undefined });
  expect(await mapOne([OPENED, CLOSED], 0, { taken: TAKEN })).toMatchObject({
    sent: ['Closed'],
    withheld: [toKey(OPENED)],
  });
  // The record as a whole, and each of its events.
  expect(await mapOne([OPENED, CLOSED], 1, { taken: TAKEN })).toMatchObject({ rows: 3 });
});

test('what repeats a record that was sent before others were removed is its duplicate', async () => {
  for (const events of [[OPENED], [OPENED, CLOSED]])
    expect(await mapOne(events, 1, { records: 2, taken: TAKEN })).toMatchObject({
      ...{ sent: [], repeats: 0, rejection: undefined, withheld: [] },
      rows: events.length === 1 ? 1 : 3,
    });
  // Of one that was rejected itself as well: the books make a reject of both.
  const note = { reason: 'same_id_other_content', detail: '', accepted: [] } as const;
  const rejected = new Map([[0, note]]);
  expect(await mapOne([OPENED], 1, { records: 2, rejected, taken: TAKEN })).toMatchObject({
    ...{ sent: [], repeats: undefined },
    rejection: { reason: 'same_id_other_content' },
  });
});

test('of a record that was withheld in part, what was accepted keeps its fingerprint', async () => {
  const note = { reason: 'same_id_other_content', detail: '', accepted: [toKey(CLOSED)] } as const;
  const rejected = new Map([[0, note]]);
  expect(await mapOne([OPENED, CLOSED], 1, { rejected })).toMatchObject({ sent: [], rows: 1 });
  expect(await mapOne([OPENED, CLOSED], 1, { rejected, taken: TAKEN })).toMatchObject({ rows: 1 });
});

test('of events of one record with one id and other content none is sent under it', async () => {
  const other = toEvent('Opened', 1, 'b');
  const both = [toKey(OPENED), toKey(OPENED)];
  expect(await mapOne([OPENED, CLOSED, other], 0)).toMatchObject({ sent: ['Closed'], withheld: both });
  expect(await mapOne([OPENED, other], 0)).toMatchObject({
    sent: [],
    rejection: { reason: 'same_id_other_content' },
  });
  // Equal ones are one event to the destination.
  expect(await mapOne([OPENED, OPENED], 0)).toMatchObject({ sent: ['Opened', 'Opened'], withheld: [] });
});

/** Milliseconds of the processor, which a busy machine does not change. */
async function measureCpu(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

test('a record of very many items costs about the same when it is resumed', async () => {
  const items = Array.from({ length: 60_000 }, (_, item) => toEvent(`Item ${item}`, 1, 'a'));
  const accepted = items.map(toKey);
  const note = { reason: 'same_id_other_content', detail: '', accepted } as const;
  const first = await measureCpu(() => mapOne(items, 0));
  const resumed = await measureCpu(() => mapOne(items, 1, { rejected: new Map([[0, note]]) }));
  expect(resumed).toBeLessThan(3 * first + 200);
}, 60_000);
