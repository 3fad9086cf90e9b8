import { z } from 'zod';

const count = z.number().int().nonnegative();

/** Why a fact about a person was not sent. The events themselves are delivered all the same. */
export const unmergedReason = z.enum([
  'shared_device', // several users on one anonymous id: a wrong merge cannot be undone
  'junk_id', // an id such as "null" or "anonymous", which the destination refuses to merge
  'already_identified', // the anonymous id is also used as a user id
  'property_too_large', // one property alone is larger than an event may be
]);
export type UnmergedReason = z.infer<typeof unmergedReason>;

/** A fact that was left unmerged, and why. */
const unmerged = z.strictObject({
  reason: unmergedReason,
  /** A distinct id, or the key of a group. It stays as it is. */
  id: z.string(),
  /** The first few users seen with it, earliest first. */
  users: z.array(z.string()).optional(),
  /** All users seen with it. */
  userCount: count.optional(),
  property: z.string().optional(),
});
export type Unmerged = z.infer<typeof unmerged>;

/** The result for persons and groups. Added up over bucket ranges like receipts over parts. */
export const personsTally = z.strictObject({
  /** Anonymous ids merged into their user. */
  pairs: count,
  /** Ids whose properties were sent. */
  persons: count,
  groups: count,
  setAside: z.partialRecord(unmergedReason, count),
  setAsideSample: z.array(unmerged),
});
export type PersonsTally = z.infer<typeof personsTally>;

/** Unmerged facts that are kept as a sample, per reason. */
export const UNMERGED_SAMPLE = 20;

export const emptyPersonsTally = (): PersonsTally => ({
  pairs: 0,
  persons: 0,
  groups: 0,
  setAside: {},
  setAsideSample: [],
});

export function tallyUnmerged(all: readonly Unmerged[]): PersonsTally {
  const counts: Partial<Record<UnmergedReason, number>> = {};
  for (const { reason } of all) counts[reason] = (counts[reason] ?? 0) + 1;
  return { ...emptyPersonsTally(), setAside: counts, setAsideSample: pickSample(all) };
}

/** Associative and commutative: the sample keeps the first ids in text order, whatever was added first. */
export function mergePersonsTally(a: PersonsTally, b: PersonsTally): PersonsTally {
  const counts = { ...a.setAside };
  for (const reason of unmergedReason.options) {
    const more = b.setAside[reason];
    if (more !== undefined) counts[reason] = (counts[reason] ?? 0) + more;
  }
  return {
    pairs: a.pairs + b.pairs,
    persons: a.persons + b.persons,
    groups: a.groups + b.groups,
    setAside: counts,
    setAsideSample: pickSample([...a.setAsideSample, ...b.setAsideSample]),
  };
}

function pickSample(all: readonly Unmerged[]): Unmerged[] {
  return unmergedReason.options.flatMap((reason) =>
    all
      .filter((one) => one.reason === reason)
      .map((one) => ({ one, text: JSON.stringify([one.id, one]) }))
      .sort((a, b) => (a.text < b.text ? -1 : 1))
      .slice(0, UNMERGED_SAMPLE)
      .map(({ one }) => one),
  );
}
