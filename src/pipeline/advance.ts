import type { Delivery } from '../contract/delivery.ts';
import type { RejectReason, SkipReason } from '../contract/outcome.ts';
import type { Checkpoint, RejectNote } from '../contract/progress.ts';
import { type CountedOutcome, FileTally, TallyBuilder } from './tally.ts';

/** Reason of a duplicate: same uuid, event name, distinct_id, UTC day and content as another record. */
export const REPEATED = 'repeated';

/**
 * One record of a segment. A `sent` record waits for the deliveries of its events; the others have their
 * outcomes already.
 */
export type Entry = {
  /** Number of the record in its part, from 0. */
  readonly record: number;
  /** UTC day of the source time, or `unknown`. */
  readonly day: string;
  readonly event: string;
} & (
  | { readonly kind: 'sent'; readonly eventCount: number }
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  /** `of`: number of the record that it repeats. */
  | { readonly kind: 'duplicate'; readonly of: number }
  | { readonly kind: 'rejected'; readonly reason: RejectReason; readonly detail: string }
);

/** Consecutive records up to, but not including, `to`, which is the position once all have outcomes. */
export interface Segment {
  readonly to: number;
  readonly entries: readonly Entry[];
}

/** Why records of the part were rejected, by their number. */
export type RejectedSoFar = ReadonlyMap<number, Omit<RejectNote, 'record'>>;

/**
 * Position and counts move together (I1). The rejects must be saved before the checkpoint. What repeats a
 * rejected record is rejected like it, as it would be in a part of its own. `getFile` names the file of a
 * record, in parts of several files.
 */
export function advance(
  checkpoint: Checkpoint,
  segment: Segment,
  deliveries: readonly Delivery[],
  rejectedBefore: RejectedSoFar,
  getFile: (record: number) => string | undefined = () => undefined,
): { checkpoint: Checkpoint; rejects: RejectNote[] } {
  const tally = new TallyBuilder(checkpoint.tally);
  const byFile = new FileTally(checkpoint.byFile, getFile);
  const rejects: RejectNote[] = [];
  let next = 0;
  const count = (record: number, counted: CountedOutcome) => {
    tally.addOutcome(counted);
    byFile.addOutcome(record, counted.outcome);
  };

  for (const entry of segment.entries) {
    const { day, event } = entry;
    if (entry.kind === 'sent') {
      const results = deliveries.slice(next, next + entry.eventCount);
      next += entry.eventCount;
      const refused = results.find((delivery) => delivery.kind === 'refused');
      tally.addEvents(results.length, results.filter((delivery) => delivery.kind === 'accepted').length);
      if (refused) {
        count(entry.record, { outcome: 'rejected', reason: 'refused', day, event });
        rejects.push({ record: entry.record, reason: 'refused', detail: refused.detail });
      } else {
        count(entry.record, { outcome: 'delivered', day, event });
      }
    } else if (entry.kind === 'rejected') {
      count(entry.record, { outcome: 'rejected', reason: entry.reason, day, event });
      rejects.push({ record: entry.record, reason: entry.reason, detail: entry.detail });
    } else if (entry.kind === 'skipped') {
      count(entry.record, { outcome: 'skipped', reason: entry.reason, day, event });
    } else {
      const first = rejectedBefore.get(entry.of) ?? rejects.find(({ record }) => record === entry.of);
      if (first) {
        const { reason, detail } = first;
        count(entry.record, { outcome: 'rejected', reason, day, event });
        rejects.push({ record: entry.record, reason, detail });
      } else count(entry.record, { outcome: 'duplicate', reason: REPEATED, day, event });
    }
  }
  return {
    checkpoint: { ...checkpoint, position: segment.to, tally: tally.build(), ...byFile.build() },
    rejects,
  };
}
