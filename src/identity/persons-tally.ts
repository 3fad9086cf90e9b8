import { z } from 'zod';
import { sharedDevices } from '../state/ledger/ledger.ts';

const count = z.number().int().nonnegative();

/** Why a fact about a person was not sent. The events themselves are delivered all the same. */
export const unmergedReason = z.enum([
  'shared_device', // several users on one anonymous id: a wrong merge cannot be undone
  'junk_id', // an id such as "null" or "anonymous", which the destination refuses to merge
  'already_identified', // the anonymous id is also used as a user id
  'contradicted_merge', // merged in an earlier migration; what is known by now would forbid it
  'merged_user', // the user was merged into another one, before it was known as a user
  'value_was_removed', // sent under an id before it was merged; it may be newer than the user's, and is not there to be sent again
  'ledger_forgotten', // what was merged before was forgotten on request
  'group_may_be_newer', // a property of a group, which would replace one that may be newer
  'property_too_large', // one property alone is larger than an event may be
]);

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
  /** Anonymous ids of which an earlier migration, or an earlier run of this one, has sent the merge. */
  mergedBefore: count.optional(),
  /** Shared devices among `pairs`, merged into one of their users as the manifest says. */
  chosen: count.optional(),
  /** Whose shared devices are. @default nobody's */
  sharedDevices: sharedDevices.optional(),
  /** Ids whose properties were sent. */
  persons: count,
  groups: count,
  setAside: z.partialRecord(unmergedReason, count),
  setAsideSample: z.array(unmerged),
});
export type PersonsTally = z.infer<typeof personsTally>;

/** Unmerged facts that are kept as a sample, per reason. */
export const UNMERGED_SAMPLE = 20;
/** More than the sample of all reasons, so that it is rarely sorted. */
const SAMPLE_KEPT = 1_000;

export const emptyPersonsTally = (): PersonsTally => ({
  pairs: 0,
  persons: 0,
  groups: 0,
  setAside: {},
  setAsideSample: [],
});

export function tallyUnmerged(all: readonly Unmerged[]): PersonsTally {
  const tally = emptyPersonsTally();
  for (const one of all) addUnmerged(tally, one);
  return { ...tally, setAsideSample: pickSample(tally.setAsideSample) };
}

/** Adds one in place: there may be millions. The sample may become a few times as long as it has to be. */
export function addUnmerged(tally: PersonsTally, one: Unmerged): void {
  tally.setAside[one.reason] = (tally.setAside[one.reason] ?? 0) + 1;
  tally.setAsideSample.push(one);
  if (tally.setAsideSample.length > SAMPLE_KEPT) tally.setAsideSample = pickSample(tally.setAsideSample);
}

/** Associative and commutative: the sample keeps the first ids in text order, whatever was added first. */
export function mergePersonsTally(a: PersonsTally, b: PersonsTally): PersonsTally {
  const counts = { ...a.setAside };
  for (const reason of unmergedReason.options) {
    const more = b.setAside[reason];
    if (more !== undefined) counts[reason] = (counts[reason] ?? 0) + more;
  }
  const mergedBefore = (a.mergedBefore ?? 0) + (b.mergedBefore ?? 0);
  const chosen = (a.chosen ?? 0) + (b.chosen ?? 0);
  const devices = a.sharedDevices ?? b.sharedDevices;
  return {
    pairs: a.pairs + b.pairs,
    ...(mergedBefore === 0 ? {} : { mergedBefore }),
    ...(chosen === 0 ? {} : { chosen }),
    ...(devices === undefined ? {} : { sharedDevices: devices }),
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
