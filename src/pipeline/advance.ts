import type { Delivery } from '../contract/delivery.ts';
import type { Checkpoint, RejectNote } from '../contract/progress.ts';
import { DUPLICATE, type Outcomes, REJECTED, REPEATED, SENT } from './outcomes.ts';
import { WITHHELD } from './taken-events.ts';
import { type CountedOutcome, FileTally, TallyBuilder } from './tally.ts';

/** Consecutive records `from` up to, but not including, `to`, which is the position once all have outcomes. */
export interface Segment {
  readonly from: number;
  readonly to: number;
}

type FinalOutcome = Exclude<CountedOutcome['outcome'], 'rejected'>;

/** Why records of the part were rejected, by their number. */
export type RejectedSoFar = ReadonlyMap<number, Omit<RejectNote, 'record'>>;

type Why = Pick<RejectNote, 'reason' | 'detail'>;

/** What is known of a record by its number. */
export interface RecordFacts {
  /** The name of its file, in parts of several files. */
  readonly getFile?: (record: number) => string | undefined;
  /** The key of one of its events, where they are several. */
  readonly getEventKey?: (record: number, event: number) => string;
}

/**
 * Position and counts move together (I1). The rejects must be saved before the checkpoint. What repeats a
 * rejected record is rejected like it, as it would be in a part of its own.
 */
export function advance(
  checkpoint: Checkpoint,
  { from, to }: Segment,
  outcomes: Outcomes,
  deliveries: readonly Delivery[],
  rejectedBefore: RejectedSoFar,
  { getFile = () => undefined, getEventKey = () => '' }: RecordFacts = {},
): { checkpoint: Checkpoint; rejects: RejectNote[] } {
  const tally = new TallyBuilder(checkpoint.tally);
  const byFile = new FileTally(checkpoint.byFile, getFile);
  /** Records of each label, and what they came to: a label is of one kind. */
  const times = new Uint32Array(outcomes.labels.all.length);
  const cameTo: FinalOutcome[] = [];
  const rejects = new Map<number, RejectNote>();
  let next = 0;

  const count = (record: number, outcome: FinalOutcome) => {
    const label = outcomes.getLabel(record);
    times[label] = (times[label] as number) + 1;
    cameTo[label] = outcome;
    byFile.addOutcome(record, outcome);
  };
  const reject = (
    record: number,
    { reason, detail }: Why,
    { accepted = [], sends }: Pick<RejectNote, 'accepted' | 'sends'> = {},
  ) => {
    const { day, event } = outcomes.labels.get(outcomes.getLabel(record));
    tally.addOutcome({ day, event, outcome: 'rejected', reason });
    byFile.addOutcome(record, 'rejected');
    rejects.set(record, {
      ...{ record, reason, detail },
      ...(accepted.length > 0 ? { accepted } : {}),
      ...(sends ? { sends } : {}),
    });
  };

  for (let record = from; record < to; record += 1) {
    const kind = outcomes.getKind(record);
    if (kind === SENT) {
      const end = next + outcomes.countEvents(record);
      let refusal: string | undefined;
      const start = next;
      for (; next < end; next += 1) {
        const delivery = deliveries[next];
        if (delivery?.kind === 'refused') refusal ??= delivery.detail;
        tally.addEvents(1, delivery?.kind === 'accepted' ? 1 : 0);
      }
      const withheld = outcomes.getWithheld(record);
      if (refusal === undefined && withheld.length === 0) count(record, 'delivered');
      else {
        const accepted: string[] = [];
        for (let event = 0; start + event < end; event += 1)
          if (deliveries[start + event]?.kind === 'accepted') accepted.push(getEventKey(record, event));
        // A replay sends what was refused under the vendor's uuid, and withholds the others again.
        if (refusal === undefined) reject(record, WITHHELD, { accepted, sends: withheld });
        else reject(record, { reason: 'refused', detail: refusal }, { accepted });
      }
    } else if (kind === REJECTED) {
      const rejection = outcomes.getRejection(record);
      if (rejection) reject(record, rejection);
    } else if (kind === DUPLICATE) {
      const of = outcomes.getFirst(record) ?? record;
      const first = rejectedBefore.get(of) ?? rejects.get(of);
      if (first) reject(record, first, { accepted: first.accepted ?? [] });
      else count(record, 'duplicate');
    } else count(record, 'skipped');
  }

  cameTo.forEach((outcome, label) => {
    const { day, event, reason = REPEATED } = outcomes.labels.get(label);
    const counted = outcome === 'delivered' ? { day, event, outcome } : { day, event, outcome, reason };
    tally.addOutcome(counted, times[label]);
  });
  return {
    checkpoint: { ...checkpoint, position: to, tally: tally.build(), ...byFile.build() },
    rejects: [...rejects.values()],
  };
}
