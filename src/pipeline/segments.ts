import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Batch } from '../contract/delivery.ts';
import type { TargetEvent } from '../contract/event.ts';
import { type MapOutcome, rejected } from '../contract/outcome.ts';
import type { PartRecord } from '../contract/part.ts';
import type { BatchBuilder } from '../deliver/batch-builder.ts';
import type { FactFold } from '../identity/fact-fold.ts';
import { stringifyJson } from '../lib/json/stringify-json.ts';
import type { Entry, Segment } from './advance.ts';

export interface CutDeps {
  readonly understand: (record: PartRecord) => MapOutcome;
  readonly batches: BatchBuilder;
  readonly findings: FactFold;
}

/** A batch and the records whose outcomes it settles; without events when no record had any. */
export interface Cut {
  readonly segment: Segment;
  readonly batch: Batch | undefined;
}

/**
 * Maps a part's records and cuts them into segments, each ready to be sent. Records before `from`
 * have their outcome: they are mapped again, only for their findings and for the uuids that later
 * records may repeat. That is cheap, and keeps checkpoints small.
 */
export async function* cutSegments(
  records: readonly PartRecord[],
  from: number,
  { understand, batches, findings }: CutDeps,
): AsyncGenerator<Cut> {
  const seen = new Set<string>();
  let entries: Entry[] = [];

  for (let number = 0; number < records.length; number += 1) {
    const outcome = understand(records[number] as PartRecord);
    if (outcome.kind !== 'rejected') for (const finding of outcome.findings) findings.add(finding);

    const uuid = outcome.kind === 'mapped' ? outcome.events[0]?.uuid : undefined;
    const repeated = uuid !== undefined && seen.has(uuid);
    if (uuid !== undefined) seen.add(uuid);
    if (number < from) continue;

    if (outcome.kind === 'mapped' && !repeated) {
      const texts = outcome.events.map((event) => stringifyJson(event));
      let added = batches.addAll(texts);
      if (added === 'full') {
        yield { segment: { to: number, entries }, batch: batches.take() };
        entries = [];
        await nextTurn(); // lets lock renewal and sockets have their turn
        added = batches.addAll(texts);
      }
      entries.push(
        added === 'added'
          ? { ...about(number, outcome.events), kind: 'sent', eventCount: texts.length }
          : { ...about(number, outcome.events), ...TOO_LARGE },
      );
    } else if (outcome.kind === 'mapped') {
      entries.push({ ...about(number, outcome.events), kind: 'duplicate' });
    } else if (outcome.kind === 'skipped') {
      const day = outcome.findings[0]?.time.slice(0, 10) ?? UNKNOWN_DAY;
      entries.push({ record: number, day, event: NO_EVENT, kind: 'skipped', reason: outcome.reason });
    } else {
      entries.push({
        record: number,
        day: UNKNOWN_DAY,
        event: NO_EVENT,
        kind: 'rejected',
        reason: outcome.reason,
        detail: outcome.detail,
      });
    }
  }
  if (entries.length > 0) {
    yield {
      segment: { to: records.length, entries },
      batch: batches.events > 0 ? batches.take() : undefined,
    };
  }
}

/** Stands in the breakdown by event for records that became none. */
const NO_EVENT = '(none)';
const UNKNOWN_DAY = 'unknown';

const TOO_LARGE = rejected(
  'event_too_large',
  'the event is larger than one event may be at the destination; shorten its properties or drop some in the mapping',
);

function about(record: number, events: readonly TargetEvent[]) {
  const first = events[0];
  return { record, day: first?.timestamp.slice(0, 10) ?? UNKNOWN_DAY, event: first?.event ?? NO_EVENT };
}
