import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch } from '../contract/delivery.ts';
import type { MappedEvent } from '../contract/event.ts';
import { type Added, BatchBuilder } from '../deliver/batch-builder.ts';
import type { Stamp } from '../deliver/stamp.ts';
import { addHeard, type FactFold } from '../identity/fact-fold.ts';
import { PropertyList } from '../lib/json/property-list.ts';
import type { ParseBytes } from '../sources/formats/parse-record.ts';
import type { ImportMap } from '../sources/source.ts';
import type { PartRecords } from '../state/part-records.ts';
import type { SentBefore } from '../state/rejects/sent-before.ts';
import type { RejectedSoFar, Segment } from './advance.ts';
import { EventWriter } from './event-writer.ts';
import type { Fingerprints } from './fingerprints.ts';
import { leaveOut } from './leave-out.ts';
import { mapRecord } from './map-record.ts';
import type { Outcomes } from './outcomes.ts';
import {
  findWithheld,
  findWithheldBefore,
  NOTHING_TAKEN,
  type TakenEvents,
  WITHHELD,
} from './taken-events.ts';
import { rejectTooLarge } from './too-large.ts';

export interface MapDeps {
  readonly parse: ParseBytes;
  readonly map: ImportMap;
  readonly batches: BatchBuilder;
  /** Receives the outcome of every record, as far as mapping decides it. */
  readonly outcomes: Outcomes;
  /** Receives the identity facts of every record. */
  readonly facts: Pick<FactFold, 'add' | 'addUser' | 'addSeen'>;
  /** Receives every record that becomes events. */
  readonly fingerprints: Fingerprints;
  readonly stamp?: Stamp | undefined;
  /** Events that are left out, because they were accepted before. @default none */
  readonly sentBefore?: SentBefore;
  /** The map under the vendor's ids, which may be those of what was sent before. @default `map` */
  readonly vendorMap?: ImportMap;
  /** Whether the uuids of `map` are of the whole record. @default false */
  readonly hasOwnIds?: boolean;
  /** Events that are gone and whose place no other one may take. @default none */
  readonly taken?: TakenEvents;
  /** Of the records before `from`. @default none */
  readonly rejected?: RejectedSoFar;
}

/** A batch, and the records that have their outcomes once it is delivered. */
export interface SegmentBatch {
  readonly segment: Segment;
  /** Undefined when no record of the segment became an event. */
  readonly batch: Batch | undefined;
}

/**
 * Maps the records of a part and packs their events into batches. Records before `from` have their
 * outcomes already: they are mapped again, without sending, for their identity facts and for their
 * fingerprints, which later records may repeat. That costs little and keeps checkpoints small.
 */
export async function* mapToBatches(
  records: PartRecords,
  from: number,
  deps: MapDeps,
): AsyncGenerator<SegmentBatch> {
  const { parse, map, batches, outcomes, facts, fingerprints, stamp, sentBefore } = deps;
  const { vendorMap = map, hasOwnIds = false, taken = NOTHING_TAKEN, rejected } = deps;
  const open = (into: BatchBuilder) => ({
    ...{ into, writer: new EventWriter(into.text, stamp) },
    startEvent: () => into.startEvent(),
  });
  const present = open(batches);
  // Limits may have been lowered since: what was sent keeps its fingerprint.
  const past = from === 0 ? present : open(new BatchBuilder());
  const rejectKept = (record: number, kept: Added, events: readonly MappedEvent[]) => {
    if (kept === 'added' || kept === 'full')
      throw new Error(`record ${record} is not too large, but ${kept}`);
    outcomes.rejected(record, rejectTooLarge(kept, batches.mostEventBytes), events);
  };
  let start = from;

  for (let record = 0; record < records.count; record += 1) {
    const before = sentBefore?.get(record);
    const mapped = mapRecord(records, record, parse, map);
    const outcome =
      before || hasOwnIds
        ? leaveOut(mapped, { before, hasOwnIds }, () => mapRecord(records, record, parse, vendorMap))
        : mapped;
    if (outcome.kind !== 'rejected') {
      if (outcome.userId !== undefined) facts.addUser(outcome.userId);
      if (outcome.otherUserIds) for (const id of outcome.otherUserIds) facts.addUser(id);
      for (const fact of outcome.facts) facts.add(fact);
      if (outcome.seen) facts.addSeen(outcome.seen, outcome.kind === 'mapped');
    }
    if (outcome.heard) addHeard(facts, outcome.heard);
    if (outcome.kind === 'rejected') outcomes.rejected(record, outcome);
    else if (outcome.kind === 'skipped') outcomes.skipped(record, outcome);
    else {
      const { events } = outcome;
      const label = outcomes.toLabel(events);
      const { into, writer, startEvent } = record < from ? past : present;
      into.startRecord();
      const isWritten = writer.write(events, startEvent);
      if (!isWritten) {
        release(events);
        // Whatever repeats it ends here as well, so nothing needs its fingerprint.
        rejectKept(record, into.keep(), events);
        await nextTurn(); // many of them come without a batch between
        continue;
      }
      const withheld =
        record < from
          ? findWithheldBefore(writer, events.length, rejected?.get(record))
          : findWithheld(writer, events, taken);
      // A true repeat would take nobody's place: what it repeats was sent before the other one was removed.
      const repeated = record < from || withheld.size === 0 ? undefined : fingerprints.find(writer.words);
      if (repeated !== undefined) {
        release(events);
        outcomes.duplicate(record, events, repeated);
        continue;
      }
      const sent = withheld.size === 0 ? events : events.filter((_, event) => !withheld.has(event));
      if (withheld.size > 0 && sent.length > 0) {
        into.startRecord();
        writer.write(sent, startEvent);
      }
      release(events);
      if (sent.length === 0) {
        outcomes.rejected(record, WITHHELD, events);
        continue;
      }
      let first: number | undefined;
      if (withheld.size > 0) fingerprints.addEvents(record, toHashed(writer, sent, outcomes));
      else if (sent.length === 1) first = fingerprints.add(record, writer.words, label);
      else first = fingerprints.addSeveral(record, writer.words, label, toHashed(writer, sent, outcomes));
      if (record < from) continue;
      if (first !== undefined) {
        outcomes.duplicate(record, events, first);
        continue;
      }
      let kept = batches.keep();
      if (kept === 'full') {
        yield { segment: { from: start, to: record }, batch: batches.take() };
        start = record;
        await nextTurn(); // lets lock renewal and sockets have their turn
        kept = batches.keep();
      }
      if (kept === 'added') outcomes.sent(record, label, sent.length, withheld);
      else rejectKept(record, kept, events);
    }
  }
  batches.startRecord();
  if (start < records.count) {
    const segment = { from: start, to: records.count };
    yield { segment, batch: batches.events > 0 ? batches.take() : undefined };
  }
}

/** The events that were written last, one by one. */
const toHashed = (writer: EventWriter, events: readonly MappedEvent[], outcomes: Outcomes) => ({
  hashes: events.length === 1 ? writer.words : writer.several,
  labels: events.map((event) => outcomes.toLabel([event])),
});

/** The events are text by now: of what follows, nothing reads their properties. */
function release(events: readonly MappedEvent[]): void {
  for (const { properties } of events) if (properties instanceof PropertyList) properties.release();
}
