import { z } from 'zod';
import { bucketVersions } from '../state/ledger/versions.ts';
import { emptyPersonsTally, mergePersonsTally, personsTally } from './persons-tally.ts';

const count = z.number().int().nonnegative();

/** An object of hashes, all of one length, one behind the other. */
const refusedRecords = z.strictObject({ key: z.string(), bytes: count, count });
export type RefusedRecords = z.infer<typeof refusedRecords>;

/** The result of sending the synthetic events of a range of buckets. Created once, like a part's receipt. */
export const sentRange = z.strictObject({
  people: personsTally,
  events: z.strictObject({ sent: count, accepted: count }),
  /** Events that the destination refused; absent in ranges that an earlier version folded. */
  refusedCount: count.optional(),
  /** A sample of them. */
  refused: z.array(
    z.strictObject({ event: z.string(), distinctId: z.string(), uuid: z.string(), detail: z.string() }),
  ),
  /** Where the records of the ledger are that they, and what was left out, were entered under: see SentChunk. */
  refusedRecords: z.array(refusedRecords).optional(),
  /** Of the buckets of the ledger that hold what was sent. */
  versions: bucketVersions.optional(),
});
export type SentRange = z.infer<typeof sentRange>;

export const REFUSED_SAMPLE = 50;

export const emptySentRange = (): SentRange => ({
  people: emptyPersonsTally(),
  events: { sent: 0, accepted: 0 },
  refusedCount: 0,
  refused: [],
});

export const countRefused = ({ refusedCount, refused }: Pick<SentRange, 'refused' | 'refusedCount'>) =>
  refusedCount ?? refused.length;

/** A sum whose count of refused events was damaged would end a run as one with too many rejects. */
export const hasItsSample = (sum: Pick<SentRange, 'refused' | 'refusedCount'>): boolean =>
  sum.refused.length === Math.min(countRefused(sum), REFUSED_SAMPLE);

export function addSentRanges(a: SentRange, b: SentRange): SentRange {
  return {
    people: mergePersonsTally(a.people, b.people),
    events: { sent: a.events.sent + b.events.sent, accepted: a.events.accepted + b.events.accepted },
    refusedCount: countRefused(a) + countRefused(b),
    refused: [...a.refused, ...b.refused].slice(0, REFUSED_SAMPLE),
  };
}
