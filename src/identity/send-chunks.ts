import { z } from 'zod';
import type { Batch, Deliver, Delivery } from '../contract/delivery.ts';
import { BatchBuilder, type BatchLimits } from '../deliver/batch-builder.ts';
import type { Stamp } from '../deliver/stamp.ts';
import { bucketVersions } from '../state/ledger/versions.ts';
import { mergePersonsTally, type PersonsTally } from './persons-tally.ts';
import {
  emptySentRange,
  REFUSED_SAMPLE,
  type RefusedRecords,
  type SentRange,
  sentRange,
} from './sent-range.ts';
import type { SyntheticEvent } from './synthetic-events.ts';

/** Some synthetic events, to be sent in this order. */
export interface SentChunk {
  readonly events: readonly SyntheticEvent[];
  readonly tally: PersonsTally;
  /** Where to continue once all of them have their answers: see SendCheckpoint. */
  readonly position: string;
  /** The records of the ledger by which the event at this place counts as sent. @default none */
  readonly listRecords?: (event: number) => readonly Uint8Array[];
  /** Records of the ledger that count as sent, of what is not sent after all. @default none */
  readonly leftOut?: readonly Uint8Array[];
}

/** How far a range of buckets is sent. */
export const sendCheckpoint = z.strictObject({
  /** Of the last chunk that was sent; in the terms of whoever makes the chunks. */
  position: z.string(),
  /** All that was sent up to there. */
  sent: sentRange,
  /** Of the buckets of the ledger that hold it. */
  versions: bucketVersions.optional(),
});
export type SendCheckpoint = z.infer<typeof sendCheckpoint>;

export interface SendChunksDeps {
  readonly limits: BatchLimits;
  /** What every event carries. */
  readonly stamp?: Stamp | undefined;
  readonly deliver: Deliver;
  readonly onProgress: (eventsSent: number) => void;
  /** Called now and then, and never for a chunk with an event that has no answer yet. */
  readonly save: (checkpoint: SendCheckpoint) => Promise<void>;
  /**
   * Whether the ledger has what the next chunk is about to send in buckets that no checkpoint names. One is saved before
   * the chunk is sent then, or nobody would miss such a bucket. @default it has not
   */
  readonly isUnnoted?: () => boolean;
  /** Keeps records of the ledger that say more than was sent and accepted. */
  readonly saveRefused?: (records: readonly Uint8Array[]) => Promise<RefusedRecords>;
  /** Monotonic, in ms. */
  readonly now?: () => number;
}

/** Records that are kept in memory before they are saved. */
const REFUSED_AT_ONCE = 10_000;

/** A crash sends at most so much again, under the same uuids. */
const SAVE_EVERY_MS = 5_000;

/** Sends chunks one after another, on top of what a checkpoint says was sent before them. */
export async function sendChunks(
  chunks: AsyncIterable<SentChunk>,
  before: SendCheckpoint | undefined,
  deps: SendChunksDeps,
  signal: AbortSignal,
): Promise<SentRange> {
  const { limits, stamp, deliver, onProgress, saveRefused, now = () => performance.now() } = deps;
  const sent: SentRange = structuredClone(before?.sent ?? emptySentRange());
  let savedAtMs = now();
  let records: Uint8Array[] = [];
  // The checkpoint names them, so that they count only with the answers that it covers.
  const keepRefused = async () => {
    if (records.length > 0 && saveRefused) {
      const kept = await saveRefused(records);
      sent.refusedRecords = [...(sent.refusedRecords ?? []), kept];
    }
    records = [];
  };
  let reached = before?.position ?? '';
  const save = async () => {
    await keepRefused();
    await deps.save({ position: reached, sent });
    savedAtMs = now();
  };
  for await (const { events, tally, position, listRecords, leftOut = [] } of chunks) {
    if (deps.isUnnoted?.()) await save();
    const refused: SyntheticEvent[] = [];
    // They are not counted as sent, and the ledger keeps them: a merge that may exist must hold, too.
    const perhapsStored: SyntheticEvent[] = [];
    // One at a time: an older value must not arrive behind a newer one.
    const onTooLarge = (event: SyntheticEvent) => {
      countDelivery(sent, event, TOO_LARGE);
      refused.push(event);
    };
    for (const { batch, events: inBatch } of packBatches(events, limits, stamp, onTooLarge)) {
      const deliveries = await deliver(batch, signal);
      inBatch.forEach((event, index) => {
        sent.events.sent += 1;
        const delivery = deliveries[index] ?? { kind: 'refused', detail: 'no delivery for this event' };
        countDelivery(sent, event, delivery);
        if (delivery.kind === 'accepted') return;
        (delivery.mayBeStored ? perhapsStored : refused).push(event);
      });
      onProgress(sent.events.sent);
    }
    sent.people = mergePersonsTally(sent.people, withoutRefused(tally, [...refused, ...perhapsStored]));
    if (refused.length > 0 && listRecords) {
      const all = new Set(refused);
      events.forEach((event, index) => {
        if (all.has(event)) records.push(...listRecords(index));
      });
    }
    for (const record of leftOut) records.push(record);
    reached = position;
    if (records.length >= REFUSED_AT_ONCE) await keepRefused();
    if (now() - savedAtMs >= SAVE_EVERY_MS) await save();
  }
  await keepRefused();
  return sent;
}

const TOO_LARGE: Delivery = { kind: 'refused', detail: 'larger than one event may be at the destination' };

function* packBatches(
  all: readonly SyntheticEvent[],
  limits: BatchLimits,
  stamp: Stamp | undefined,
  onTooLarge: (event: SyntheticEvent) => void,
): Generator<{ batch: Batch; events: SyntheticEvent[] }> {
  const batches = new BatchBuilder(limits);
  let events: SyntheticEvent[] = [];
  for (const event of all) {
    let added = batches.add(event.text, stamp);
    if (added === 'full') {
      yield { batch: batches.take(), events };
      events = [];
      added = batches.add(event.text, stamp);
    }
    if (added === 'added') events.push(event);
    else onTooLarge(event);
  }
  if (events.length > 0) yield { batch: batches.take(), events };
  batches.close();
}

/** A chunk is of merges, of properties of persons, or of groups: what was refused of it is not counted as sent. */
function withoutRefused(tally: PersonsTally, refused: readonly SyntheticEvent[]): PersonsTally {
  if (refused.length === 0) return tally;
  const { pairs, persons, groups } = tally;
  if (pairs > 0) return { ...tally, pairs: Math.max(0, pairs - refused.length) };
  // What is large comes in several events.
  const ids = new Set(refused.map(({ distinctId }) => distinctId)).size;
  const ofPersons = Math.min(ids, persons);
  return {
    ...tally,
    persons: persons - ofPersons,
    groups: Math.max(0, groups - (ids - ofPersons)),
  };
}

function countDelivery(sent: SentRange, event: SyntheticEvent, delivery: Delivery): void {
  if (delivery.kind === 'accepted') {
    sent.events.accepted += 1;
    return;
  }
  sent.refusedCount = (sent.refusedCount ?? 0) + 1;
  if (sent.refused.length < REFUSED_SAMPLE) {
    const { detail } = delivery;
    sent.refused.push({
      event: event.event,
      distinctId: event.distinctId,
      uuid: event.uuid,
      detail,
    });
  }
}
