import { FencedOutError } from '../../lib/errors.ts';
import type { SharedDevices } from '../../state/ledger/ledger.ts';
import type { IdEntry, NewEntry } from './id-entry.ts';

/** What the facts at hand say of the id; users that are junk are left out. */
export interface OwnPairs {
  /** Of several, the one comes first whose a shared device is. */
  readonly users: readonly Buffer[];
  /** No others were ever seen with the id. Only asked where shared devices are somebody's. @default true */
  readonly areAll?: boolean;
  /** There are more than `users`. @default false */
  readonly hasTooMany?: boolean;
  /** Only records say so whose facts do not count: that keeps others apart, and merges nothing. @default false */
  readonly isHeard?: boolean;
  readonly isUser: boolean;
  /** It is a user with another id by now, the only one of `users`. @default false */
  readonly isRenamed?: boolean;
  /** Some of `users` was seen with it under an earlier name. @default false */
  readonly isByName?: boolean;
  /** These facts say all earlier names of users that it was ever seen with, so `users` holds them. @default false */
  readonly areAllNamed?: boolean;
  /** Persons of the vendor that it is of, with their users where the ledger knows them. @default none */
  readonly placed?: readonly Placed[];
}

export interface Placed {
  readonly person: Buffer;
  /** Undefined: nobody knows any more. */
  readonly user: Buffer | undefined;
}

/**
 * Why facts are compared with a ledger:
 * `send`: what holds is sent.
 * `note`: others have to take the facts into account; nothing is sent.
 * `take_in`: what holds over these facts alone was sent, before there was a ledger.
 */
export type LedgerPurpose = 'send' | 'note' | 'take_in';

export interface TurnAtLedger {
  readonly turn: number;
  readonly purpose: LedgerPurpose;
  /** Whether all that a turn entered as sent has been sent. */
  readonly hasEnded: (turn: number) => boolean;
  /** Whether a turn that has not ended, and never will, has sent nothing. @default nobody knows of any */
  readonly sentNothing?: (turn: number) => boolean;
  /** The ledger has forgotten what was sent: nothing is merged. */
  readonly isForgotten: boolean;
  /** Whose shared devices are. @default none: they stay unmerged */
  readonly sharedDevices?: SharedDevices;
}

/**
 * Throws FencedOutError where a later turn, of which this one knows nothing, has entered something: a process that slept
 * must not enter it once more under its own turn, which nobody will end.
 */
export function assertNotLate({ turn, hasEnded }: Pick<TurnAtLedger, 'turn' | 'hasEnded'>, sentAt: number) {
  if (sentAt > turn && !hasEnded(sentAt))
    throw new FencedOutError(`turn ${sentAt} came after turn ${turn} of the ledger`);
}

export interface MergeDecision {
  readonly entry: NewEntry;
  readonly verdict:
    | 'merge'
    /** It holds, and was sent in a turn that has ended. */
    | 'merged_before'
    /** It was sent, and does not hold any more. */
    | 'contradicted'
    | 'shared_device'
    | 'already_identified'
    | 'removed_person'
    | 'ledger_forgotten'
    /** There is no pair to decide about, or nothing is to be sent. */
    | 'none';
  /** Whose facts the facts about the id are; undefined: its own. */
  readonly person: Buffer | undefined;
  /** Whom the id may have become: that merge was entered in a turn that has not ended, and may never be sent. */
  readonly perhaps?: Buffer | undefined;
}

/**
 * Whether an anonymous id is merged into its user (I11): if it was seen with one user alone and never as a user
 * itself, over the ledger and the facts at hand; with several, where `sharedDevices` says whose it is. Deciding the same again in the same turn gives the same, so that
 * a turn can be continued after a crash.
 */
export function decideMerge(known: IdEntry, own: OwnPairs, at: TurnAtLedger): MergeDecision {
  const { sharedDevices = 'none' } = at;
  const entry =
    at.purpose === 'take_in'
      ? addTakenIn(known, own, at, sharedDevices)
      : addFacts(known, own, sharedDevices, at);
  const { user, sentAt } = entry;
  const hasPair = own.users.length > 0;
  const holds =
    user !== undefined &&
    !(entry.isOfRemoved && !wasSent(entry, at)) &&
    !(entry.isShared && sharedDevices === 'none') &&
    // Of a user with several new ones nobody can tell which it is by now, whosever shared devices are.
    (!entry.isUser || (entry.isRenamed && !(entry.isShared && hasPair)));

  if (sentAt !== 0 && !holds) return { entry, verdict: 'contradicted', person: undefined };
  if (!hasPair || own.isHeard === true || at.purpose === 'note') {
    if (sentAt === 0) return { entry, verdict: 'none', person: undefined };
    return at.hasEnded(sentAt)
      ? { entry, verdict: 'none', person: user }
      : { entry, verdict: 'none', person: undefined, perhaps: user };
  }
  if (!holds) {
    const reason = entry.isOfRemoved ? 'removed_person' : 'shared_device';
    return { entry, verdict: entry.isUser ? 'already_identified' : reason, person: undefined };
  }
  // Nobody can tell whether a name that these facts do not say is one of these users by now.
  if (entry.isByName && own.areAllNamed !== true && !wasSent(entry, at))
    return { entry, verdict: 'shared_device', person: undefined, perhaps: sentAt === 0 ? undefined : user };
  if (sentAt !== 0 && sentAt !== at.turn && at.hasEnded(sentAt))
    return { entry, verdict: 'merged_before', person: user };
  // Whoever entered it may have sent it, and by what is known now it may be another one's.
  if (sentAt !== 0 && entry.isShared && !(own.areAll !== false && own.users[0]?.equals(user)))
    return { entry, verdict: 'shared_device', person: undefined, perhaps: user };
  if (at.isForgotten) return { entry, verdict: 'ledger_forgotten', person: undefined };
  // A new name that was perhaps sent: unless these facts say it, others may have closed a circle of names since.
  if (entry.isUser && own.isRenamed !== true) return { entry, verdict: 'contradicted', person: undefined };
  entry.sentAt = at.turn;
  return { entry, verdict: 'merge', person: user };
}

/** Whether the merge of an id was sent, beyond doubt. */
const wasSent = ({ sentAt }: IdEntry, { hasEnded }: Pick<TurnAtLedger, 'hasEnded'>) =>
  sentAt !== 0 && hasEnded(sentAt);

/** What was known of an id, once the user of the vendor's person is known that it was of. */
export function nameUser(known: IdEntry, placed: readonly Placed[]): IdEntry {
  const { isOfRemoved, user, sentAt } = known;
  if (!isOfRemoved || user === undefined || sentAt !== 0) return known;
  const isNamed = placed.some((one) => one.user !== undefined && one.person.equals(user));
  return isNamed ? { ...known, isOfRemoved: false, user: undefined } : known;
}

/**
 * Whether a user may be merged into the id that it has by now: not where an earlier turn may have merged anything
 * into it, because the destination refuses to merge an identified person. `areAllNamed`: see OwnPairs.
 */
export const mayRename = (known: IdEntry, user: Buffer, areAllNamed = false): boolean =>
  !known.isShared &&
  (known.sentAt !== 0
    ? known.user?.equals(user) === true
    : (!known.isByName || areAllNamed) &&
      (known.user === undefined || known.user.equals(user)) &&
      (!known.isUser || known.isNoted));

function addFacts(
  before: IdEntry,
  own: OwnPairs,
  sharedDevices: SharedDevices,
  at: Pick<TurnAtLedger, 'purpose' | 'hasEnded'>,
): NewEntry {
  const { purpose } = at;
  const { placed = [] } = own;
  const known = nameUser(before, placed);
  const unnamed: Buffer[] = [];
  let { isOfRemoved } = known;
  for (const { person, user } of placed) {
    if (user === undefined) {
      // It cannot be undone.
      if (wasSent(known, at)) continue;
      isOfRemoved = true;
    } else if (sharedDevices !== 'none' && !own.users.some((one) => one.equals(user))) isOfRemoved = true;
    unnamed.push(user ?? person);
  }
  const isUser = known.isUser || own.isUser;
  // A new name that was only noted may have been refused since: with what others sent, it holds no more.
  const isRenamed = own.isRenamed === true || (known.isRenamed && known.sentAt !== 0);
  const isNoted = own.isUser ? purpose === 'note' && (!known.isUser || known.isNoted) : known.isNoted;
  const isByName = known.isByName || own.isByName === true;
  const users = unnamed.length === 0 ? own.users : [...own.users, ...unnamed];
  const user = known.user ?? users[0];
  const isShared =
    known.isShared ||
    own.hasTooMany === true ||
    users.some((other) => user !== undefined && !other.equals(user));
  const { sentAt, newestMs } = known;
  const chosen =
    !isShared || sentAt !== 0 ? user : sharedDevices === 'none' ? undefined : chooseUser(known, own);
  return { isUser, isShared, user: chosen, sentAt, isRenamed, isNoted, isByName, isOfRemoved, newestMs };
}

/**
 * Of a shared id that was never merged: the first of the users at hand. Where another one is known besides, whom the
 * ledger has no name of, it may be that one's.
 */
function chooseUser(known: IdEntry, { users, areAll = true }: OwnPairs): Buffer | undefined {
  if (users.length === 0) return known.user;
  return areAll ? users[0] : undefined;
}

/** A merge that was decided without a ledger was sent, whatever the ledger knows by now. */
function addTakenIn(known: IdEntry, own: OwnPairs, at: TurnAtLedger, sharedDevices: SharedDevices): NewEntry {
  const entry = addFacts(known, own, sharedDevices, at);
  const [user, ...others] = own.users;
  const isSent =
    user !== undefined &&
    own.isHeard !== true &&
    own.hasTooMany !== true &&
    (others.length === 0 || sharedDevices !== 'none') &&
    (!own.isUser || own.isRenamed === true);
  if (isSent && known.sentAt === 0) {
    entry.user = user;
    entry.sentAt = at.turn;
  }
  return entry;
}
