import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch } from '../contract/delivery.ts';
import type { TargetEvent } from '../contract/event.ts';
import type { PartRecord } from '../contract/part.ts';
import type { BatchBuilder } from '../deliver/batch-builder.ts';
import type { FactFold } from '../identity/fact-fold.ts';
import { stringifyJson } from '../lib/json/stringify-json.ts';
import type { ParseRecord } from '../sources/formats/parse-record.ts';
import type { MapRecord } from '../sources/source.ts';
import type { Entry, Segment } from './advance.ts';
import type { Fingerprints } from './fingerprints.ts';

export interface MapDeps {
  readonly parse: ParseRecord;
  readonly map: MapRecord;
  readonly batches: BatchBuilder;
  /** Receives the identity facts of every record. */
  readonly facts: FactFold;
  /** Receives every record that becomes events. */
  readonly fingerprints: Fingerprints;
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
  records: readonly PartRecord[],
  from: number,
  { parse, map, batches, facts, fingerprints }: MapDeps,
): AsyncGenerator<SegmentBatch> {
  let entries: Entry[] = [];

  for (let number = 0; number < records.length; number += 1) {
    const parsed = parse(records[number] as PartRecord);
    const outcome = parsed.kind === 'rejected' ? parsed : map(parsed.value);
    if (outcome.kind !== 'rejected') {
      if (outcome.userId !== undefined) facts.addUser(outcome.userId);
      for (const fact of outcome.facts) facts.add(fact);
    }

    const repeated = outcome.kind === 'mapped' ? fingerprints.add(number, outcome.events) : undefined;
    if (number < from) continue;

    if (outcome.kind === 'mapped' && repeated === undefined) {
      const { events } = outcome;
      const texts = events.map((event) => stringifyJson(event));
      let added = batches.addAll(texts);
      if (added === 'full') {
        yield { segment: { to: number, entries }, batch: batches.take() };
        entries = [];
        await nextTurn(); // lets lock renewal and sockets have their turn
        added = batches.addAll(texts);
      }
      entries.push(
        added === 'added'
          ? { ...describe(number, events), kind: 'sent', eventCount: texts.length }
          : { ...describe(number, events), kind: 'rejected', reason: 'event_too_large', detail: TOO_LARGE },
      );
    } else if (outcome.kind === 'mapped') {
      entries.push({ ...describe(number, outcome.events), kind: 'duplicate', of: repeated ?? number });
    } else if (outcome.kind === 'skipped') {
      const day = outcome.facts[0]?.time.slice(0, 10) ?? UNKNOWN_DAY;
      entries.push({ record: number, day, event: NO_EVENT, kind: 'skipped', reason: outcome.reason });
    } else {
      const { kind, reason, detail } = outcome;
      entries.push({ record: number, day: UNKNOWN_DAY, event: NO_EVENT, kind, reason, detail });
    }
  }
  if (entries.length > 0) {
    const segment = { to: records.length, entries };
    yield { segment, batch: batches.events > 0 ? batches.take() : undefined };
  }
}

/** The event name under which records without an event are counted. */
const NO_EVENT = '(none)';
const UNKNOWN_DAY = 'unknown';

const TOO_LARGE =
  'the event is larger than one event may be at the destination; shorten its properties or drop some in the mapping';

function describe(record: number, events: readonly TargetEvent[]) {
  const first = events[0];
  return { record, day: first?.timestamp.slice(0, 10) ?? UNKNOWN_DAY, event: first?.event ?? NO_EVENT };
}
