import { HASH_BYTES, toBeforeHash } from '../../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../../state/ledger/record-table.ts';

/** What a ledger knows of one distinct id. */
export interface IdEntry {
  /** The id is the user of some pair. */
  readonly isUser: boolean;
  /** It was seen with more than one user. */
  readonly isShared: boolean;
  /** The only user seen with it, or the one it was merged into; where `isOfRemoved`, the vendor's person perhaps. */
  readonly user: Buffer | undefined;
  /** Turn in which the merge into `user` was sent; 0: never. */
  readonly sentAt: number;
  /** It was merged into `user`, or is to be, although it is a user itself: the vendor was told of its new id. */
  readonly isRenamed: boolean;
  /** It is a user by facts that nobody has sent: so nothing was merged into it. */
  readonly isNoted: boolean;
  /** It was seen with some user under an earlier name, which other facts may contradict. */
  readonly isByName: boolean;
  /** It is of a vendor's person whose user nobody knows any more: facts that said so were removed. */
  readonly isOfRemoved: boolean;
  /** Newest source time of a set property that was sent under the id itself, ms since 1970. */
  readonly newestMs: number;
}

export const UNKNOWN_ID: IdEntry = {
  isUser: false,
  isShared: false,
  user: undefined,
  sentAt: 0,
  isRenamed: false,
  isNoted: false,
  isByName: false,
  isOfRemoved: false,
  newestMs: Number.NEGATIVE_INFINITY,
};

/** One that nobody else has yet. */
export type NewEntry = { -readonly [Field in keyof IdEntry]: IdEntry[Field] };

/** What `...` would make is of another class for V8, and whatever reads entries would be compiled for both. */
const copyEntry = (entry: IdEntry): NewEntry => ({
  isUser: entry.isUser,
  isShared: entry.isShared,
  user: entry.user,
  sentAt: entry.sentAt,
  isRenamed: entry.isRenamed,
  isNoted: entry.isNoted,
  isByName: entry.isByName,
  isOfRemoved: entry.isOfRemoved,
  newestMs: entry.newestMs,
});

/** A record: hash of the id, flags, hash of the user, turn, newest time. */
export const ID_WIDTH = HASH_BYTES + 1 + HASH_BYTES + 4 + 8;
const FLAGS = HASH_BYTES;
const USER = FLAGS + 1;
const TURN = USER + HASH_BYTES;
const NEWEST = TURN + 4;

const IS_USER = 1;
const IS_SHARED = 2;
const HAS_USER = 4;
const IS_RENAMED = 8;
const IS_NOTED = 16;
const IS_OF_REMOVED = 32;
const IS_BY_NAME = 64;

export function readIdEntry(table: RecordTable, id: Uint8Array): IdEntry {
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
    isRenamed: (flags & IS_RENAMED) !== 0,
    isNoted: (flags & IS_NOTED) !== 0,
    isByName: (flags & IS_BY_NAME) !== 0,
    isOfRemoved: (flags & IS_OF_REMOVED) !== 0,
    newestMs: table.bytes.readDoubleBE(offset + NEWEST),
  };
}

function writeIdEntry(
  table: RecordTable,
  id: Uint8Array,
  { isUser, isShared, isRenamed, isNoted, isByName, isOfRemoved, user, sentAt, newestMs }: IdEntry,
): void {
  const offset = table.insert(id);
  const { bytes } = table;
  bytes[offset + FLAGS] =
    (isUser ? IS_USER : 0) |
    (isShared ? IS_SHARED : 0) |
    (user ? HAS_USER : 0) |
    (isRenamed ? IS_RENAMED : 0) |
    (isNoted ? IS_NOTED : 0) |
    (isByName ? IS_BY_NAME : 0) |
    (isOfRemoved ? IS_OF_REMOVED : 0);
  // Of so few bytes, without the checks of `fill` and `copy`.
  for (let at = 0; at < HASH_BYTES; at += 1) bytes[offset + USER + at] = user ? (user[at] as number) : 0;
  bytes.writeUInt32BE(sentAt, offset + TURN);
  bytes.writeDoubleBE(newestMs, offset + NEWEST);
  table.changed = true;
}

/** Of a record of which nothing but a time, or a number, is known; see users-seen.ts. None: -Infinity. */
export function readNewestMs(table: RecordTable, key: Uint8Array): number {
  const offset = table.find(key);
  return offset === -1 ? UNKNOWN_ID.newestMs : table.bytes.readDoubleBE(offset + NEWEST);
}

export function writeNewestMs(table: RecordTable, key: Uint8Array, newestMs: number): void {
  const offset = table.insert(key);
  const { bytes } = table;
  for (let at = FLAGS; at < NEWEST; at += 1) bytes[offset + at] = 0;
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

/**
 * Enters the users of a vendor's person, and returns the only one over all that is known, or that there are several.
 * `isAll`: the ledger was told of no others, so one of those that it knows may have a new name by now. `isByName`: some
 * of them was seen under an earlier name.
 */
export function enterVendorPerson(
  table: RecordTable,
  person: Buffer,
  users: readonly Buffer[],
  {
    hasSeveral = false,
    isAll = false,
    isByName = false,
  }: { readonly hasSeveral?: boolean; readonly isAll?: boolean; readonly isByName?: boolean } = {},
): Pick<IdEntry, 'user' | 'isShared' | 'isByName'> {
  const known = readIdEntry(table, person);
  const before = isAll && users.length > 0 ? UNKNOWN_ID : known;
  const user = before.user ?? users[0];
  const isShared =
    hasSeveral || before.isShared || users.some((other) => user !== undefined && !other.equals(user));
  const entry = copyEntry(known);
  entry.user = user;
  entry.isShared = isShared;
  entry.isByName ||= isByName;
  if (!areSameEntries(known, entry)) writeIdEntry(table, person, entry);
  return entry;
}

/** What was sent of an id; a merge that a turn entered and never sent is taken back first. */
export function readSentEntry(
  table: RecordTable,
  id: Buffer,
  { sentNothing = () => false }: { readonly sentNothing?: ((turn: number) => boolean) | undefined },
): IdEntry {
  const known = readIdEntry(table, id);
  if (known.sentAt === 0 || !sentNothing(known.sentAt)) return known;
  withdrawMerge(table, id, known.sentAt);
  const before = readIdEntry(table, id);
  if (before.sentAt === 0 || !sentNothing(before.sentAt)) return before;
  const never = { ...before, sentAt: 0 };
  writeIdEntry(table, id, never);
  return never;
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
  a.isRenamed === b.isRenamed &&
  a.isNoted === b.isNoted &&
  a.isByName === b.isByName &&
  a.isOfRemoved === b.isOfRemoved &&
  a.sentAt === b.sentAt &&
  a.newestMs === b.newestMs &&
  (a.user === undefined ? b.user === undefined : b.user !== undefined && a.user.equals(b.user));
