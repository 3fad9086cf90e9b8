import { HASH_BYTES, toBeforeHash } from '../state/ledger/keyed-hash.ts';
import type { SharedDevices } from '../state/ledger/ledger.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';

/** What a ledger knows of one distinct id. */
export interface IdEntry {
  /** The id is the user of some pair. */
  readonly isUser: boolean;
  /** It was seen with more than one user. */
  readonly isShared: boolean;
  /** The only user seen with it, or the one it was merged into. */
  readonly user: Buffer | undefined;
  /** Turn in which the merge into `user` was sent; 0: never. */
  readonly sentAt: number;
  /** Newest source time of a set property that was sent under the id itself, ms since 1970. */
  readonly newestMs: number;
}

export const UNKNOWN_ID: IdEntry = {
  isUser: false,
  isShared: false,
  user: undefined,
  sentAt: 0,
  newestMs: Number.NEGATIVE_INFINITY,
};

/** What the facts at hand say of the id; users that are junk are left out. */
export interface OwnPairs {
  /** Of several, the one comes first whose a shared device is. */
  readonly users: readonly Buffer[];
  readonly isUser: boolean;
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
  /** The ledger has forgotten what was sent: nothing is merged. */
  readonly isForgotten: boolean;
  /** Whose shared devices are. @default none: they stay unmerged */
  readonly sharedDevices?: SharedDevices;
}

export interface MergeDecision {
  readonly entry: IdEntry;
  readonly verdict:
    | 'merge'
    /** It holds, and was sent in a turn that has ended. */
    | 'merged_before'
    /** It was sent, and does not hold any more. */
    | 'contradicted'
    | 'shared_device'
    | 'already_identified'
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
      ? addTakenIn(known, own, at.turn, sharedDevices)
      : addFacts(known, own, sharedDevices);
  const { user, sentAt } = entry;
  const holds = user !== undefined && !(entry.isShared && sharedDevices === 'none') && !entry.isUser;
  const hasPair = own.users.length > 0;

  if (sentAt !== 0 && !holds) return { entry, verdict: 'contradicted', person: undefined };
  if (!hasPair || at.purpose === 'note') {
    if (sentAt === 0) return { entry, verdict: 'none', person: undefined };
    return at.hasEnded(sentAt)
      ? { entry, verdict: 'none', person: user }
      : { entry, verdict: 'none', person: undefined, perhaps: user };
  }
  if (!holds) {
    const verdict = entry.isUser ? 'already_identified' : 'shared_device';
    return { entry, verdict, person: undefined };
  }
  if (sentAt !== 0 && sentAt !== at.turn && at.hasEnded(sentAt))
    return { entry, verdict: 'merged_before', person: user };
  if (at.isForgotten) return { entry, verdict: 'ledger_forgotten', person: undefined };
  return { entry: { ...entry, sentAt: at.turn }, verdict: 'merge', person: user };
}

function addFacts(known: IdEntry, own: OwnPairs, sharedDevices: SharedDevices): IdEntry {
  const isUser = known.isUser || own.isUser;
  const user = known.user ?? own.users[0];
  const isShared = known.isShared || own.users.some((other) => user !== undefined && !other.equals(user));
  if (!isShared || known.sentAt !== 0) return { ...known, isUser, isShared, user };
  return { ...known, isUser, isShared, user: sharedDevices === 'none' ? undefined : chooseUser(known, own) };
}

/**
 * Of a shared id that was never merged: the first of the users at hand. The ledger knows no times, so where it has
 * seen another user than those at hand, nobody knows whose it is.
 */
function chooseUser(known: IdEntry, { users }: OwnPairs): Buffer | undefined {
  const { user } = known;
  if (user === undefined) return known.isShared ? undefined : users[0];
  if (users.length === 0) return user;
  return users.some((other) => other.equals(user)) ? users[0] : undefined;
}

/** A merge that was decided without a ledger was sent, whatever the ledger knows by now. */
function addTakenIn(known: IdEntry, own: OwnPairs, turn: number, sharedDevices: SharedDevices): IdEntry {
  const added = addFacts(known, own, sharedDevices);
  const [user, ...others] = own.users;
  const wasSent = user !== undefined && (others.length === 0 || sharedDevices !== 'none') && !own.isUser;
  return wasSent && known.sentAt === 0 ? { ...added, user, sentAt: turn } : added;
}

/** A record: hash of the id, flags, hash of the user, turn, newest time. */
export const ID_WIDTH = HASH_BYTES + 1 + HASH_BYTES + 4 + 8;
const FLAGS = HASH_BYTES;
const USER = FLAGS + 1;
const TURN = USER + HASH_BYTES;
const NEWEST = TURN + 4;

const IS_USER = 1;
const IS_SHARED = 2;
const HAS_USER = 4;

export function readIdEntry(table: RecordTable, id: Buffer): IdEntry {
  const offset = table.find(id);
  if (offset === -1) return UNKNOWN_ID;
  const flags = table.bytes[offset + FLAGS] ?? 0;
  return {
    isUser: (flags & IS_USER) !== 0,
    isShared: (flags & IS_SHARED) !== 0,
    user:
      (flags & HAS_USER) === 0
        ? undefined
        : Buffer.from(table.bytes.subarray(offset + USER, offset + USER + HASH_BYTES)),
    sentAt: table.bytes.readUInt32BE(offset + TURN),
    newestMs: table.bytes.readDoubleBE(offset + NEWEST),
  };
}

function writeIdEntry(
  table: RecordTable,
  id: Buffer,
  { isUser, isShared, user, sentAt, newestMs }: IdEntry,
): void {
  const offset = table.insert(id);
  const { bytes } = table;
  bytes[offset + FLAGS] = (isUser ? IS_USER : 0) | (isShared ? IS_SHARED : 0) | (user ? HAS_USER : 0);
  bytes.fill(0, offset + USER, offset + TURN);
  user?.copy(bytes, offset + USER);
  bytes.writeUInt32BE(sentAt, offset + TURN);
  bytes.writeDoubleBE(newestMs, offset + NEWEST);
  table.changed = true;
}

/** Enters what a turn decided, and keeps whether an earlier turn may have sent the merge: see `withdrawMerge`. */
export function enterId(table: RecordTable, id: Buffer, entry: IdEntry, known: IdEntry): void {
  if (areSameEntries(known, entry)) return;
  if (known.sentAt !== 0 && known.sentAt !== entry.sentAt)
    writeIdEntry(table, Buffer.from(toBeforeHash(id)), known);
  writeIdEntry(table, id, entry);
}

/** Takes back that a turn sent the merge of an anonymous id, which the destination refused; what was seen stays. */
export function withdrawMerge(table: RecordTable, id: Buffer, turn: number): void {
  const known = readIdEntry(table, id);
  if (known.sentAt !== turn) return;
  const { sentAt } = readIdEntry(table, Buffer.from(toBeforeHash(id)));
  writeIdEntry(table, id, { ...known, sentAt });
}

const areSameEntries = (a: IdEntry, b: IdEntry): boolean =>
  a.isUser === b.isUser &&
  a.isShared === b.isShared &&
  a.sentAt === b.sentAt &&
  a.newestMs === b.newestMs &&
  (a.user === undefined ? b.user === undefined : b.user !== undefined && a.user.equals(b.user));
