import { z } from 'zod';
import { sharedDevices } from '../state/ledger/ledger.ts';

const count = z.number().int().nonnegative();

/** Why a fact about a person was not sent. The events themselves are delivered all the same. */
export const unmergedReason = z.enum([
  'shared_device', // several users on one anonymous id: a wrong merge cannot be undone
  'junk_id', // an id such as "null" or "anonymous", which the destination refuses to merge
  'several_users', // one person of the vendor with several user ids; the destination merges no two users
  'no_user', // ids of one person of the vendor, none of which is a user's
  'over_limit', // joined or renamed by the vendor, and more such than are kept in memory
  'removed_person', // of a vendor's person of whom other ids were removed: its user is not known any more; or that may be another one by a new name
  'already_identified', // the anonymous id is also used as a user id
  'contradicted_merge', // merged in an earlier migration; what is known by now would forbid it
  'merged_otherwise', // a shared device, merged into the one of its users whose it was by then; by what is known now, it is or may be another one's
  'merged_user', // the user was merged into another one, before it was known as a user
  'value_was_removed', // sent under an id before it was merged; it may be newer than the user's, and is not there to be sent again
  'ledger_forgotten', // what was merged before was forgotten on request
  'group_may_be_newer', // a property of a group, which would replace one that may be newer
  'property_too_large', // larger than an event may be, or than what is left of 512 KiB of its person or group
]);

const uniques = z.record(z.string(), z.strictObject({ vendor: count, destination: count }));

/** A fact that was left unmerged, and why. */
const unmerged = z.strictObject({
  reason: unmergedReason,
  /** A distinct id, the key of a group, or the vendor's id of a person. It stays as it is. */
  id: z.string(),
  /** The first few users seen with it, earliest first; where there is none, ids. */
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
  /**
   * Persons with events, by month (`2023-05`, UTC): as the vendor counts its users, and as there are at the
   * destination after the merges. Absent where the vendor's rule is not known.
   */
  uniques: uniques.optional(),
  setAside: z.partialRecord(unmergedReason, count),
  setAsideSample: z.array(unmerged),
});
export type PersonsTally = z.infer<typeof personsTally>;

/** Users of one id that are shown. */
export const USERS_SHOWN = 5;

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

/** Counts one person in each of some months. */
export function countActive(
  tally: PersonsTally,
  where: 'vendor' | 'destination',
  months: Iterable<number>,
): void {
  for (const month of months) {
    tally.uniques ??= {};
    const name = nameMonth(month);
    let one = tally.uniques[name];
    if (!one) {
      one = { vendor: 0, destination: 0 };
      tally.uniques[name] = one;
    }
    one[where] += 1;
  }
}

/** Most persons are active in the month of the one before. */
let lastMonth = -1;
let lastName = '';

function nameMonth(month: number): string {
  if (month !== lastMonth)
    lastName = `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;
  lastMonth = month;
  return lastName;
}

function addUniques(a: PersonsTally['uniques'], b: PersonsTally['uniques']): PersonsTally['uniques'] {
  if (!a || !b) return a ?? b;
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  const sum = (name: string, where: 'vendor' | 'destination') =>
    (a[name]?.[where] ?? 0) + (b[name]?.[where] ?? 0);
  return Object.fromEntries(
    names.map((name) => [name, { vendor: sum(name, 'vendor'), destination: sum(name, 'destination') }]),
  );
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
  const active = addUniques(a.uniques, b.uniques);
  return {
    pairs: a.pairs + b.pairs,
    ...(mergedBefore === 0 ? {} : { mergedBefore }),
    ...(chosen === 0 ? {} : { chosen }),
    ...(devices === undefined ? {} : { sharedDevices: devices }),
    persons: a.persons + b.persons,
    groups: a.groups + b.groups,
    ...(active === undefined ? {} : { uniques: active }),
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
