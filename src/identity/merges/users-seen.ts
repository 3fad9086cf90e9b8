import { HEARD_TIME, isHeardTime, toFirstTime } from '../../contract/heard-time.ts';
import type { KeyedHash } from '../../state/ledger/keyed-hash.ts';
import type { SharedDevices } from '../../state/ledger/ledger.ts';
import type { RecordTable } from '../../state/ledger/record-table.ts';
import { type IdEntry, readNewestMs, writeNewestMs } from './id-entry.ts';

/** A user, and when an anonymous id was first seen with it. */
export type UserSeen = readonly [user: string, time: string];

export interface UsersInOrder {
  /** The one comes first whose a shared device is; ties are decided by the text of the id. */
  readonly users: readonly UserSeen[];
  /** They are all that is known, so that the first one is the device's over all facts; and it is not only heard of. */
  readonly areAll: boolean;
  /** It was merged into one of its users, and is, or may be, another one's by all that is known. */
  readonly isOthers: boolean;
}

/**
 * The users of a device that may be shared, by the first time of each over all that the ledger knows, which learns the
 * times at hand. Repeating it changes nothing. Only for ledgers that say whose shared devices are.
 *
 * The vendor takes a verdict back when a person turns out to have several users, so a time by verdict counts only while
 * the facts at hand say it; an earlier one that they do not say leaves the order unknown.
 */
export function orderUsers(
  users: readonly UserSeen[],
  { id, known, hash, table, paired, said, hasTooMany = false }: DeviceAtLedger,
  policy: Exclude<SharedDevices, 'none'>,
): UsersInOrder {
  const of = id.toString('hex');
  const toKey = (field: string, user: string) => Buffer.from(hash.property(of, field, user));
  const countKey = toKey(SEEN_WITH, '');
  let count = Math.max(0, readNewestMs(table, countKey));
  // What was entered without times is of users that nobody can name.
  if (count === 0 && (known.user !== undefined || known.isShared)) count = UNKNOWN_USERS;
  const merged = known.sentAt === 0 ? undefined : known.user?.toString('hex');
  if (hasTooMany) {
    writeMs(table, countKey, UNKNOWN_USERS);
    return { users, areAll: false, isOthers: merged !== undefined };
  }
  let isInDoubt = false;
  const learn = (key: Buffer, time: string | undefined) => {
    const read = readNewestMs(table, key);
    const before = read === Number.NEGATIVE_INFINITY ? Number.POSITIVE_INFINITY : read;
    const now = time === undefined ? Number.POSITIVE_INFINITY : Date.parse(toFirstTime(time));
    if (now < before) writeMs(table, key, now);
    return { before, now, first: Math.min(before, now) };
  };
  const timed = users.map((one) => {
    const [user] = one;
    const hex = hash.id(user).toString('hex');
    const pair = learn(toKey(SEEN_WITH, hex), paired.get(user));
    const verdict = learn(toKey(SAID_TO_BE_OF, hex), said.get(user));
    if (pair.before === Number.POSITIVE_INFINITY && verdict.before === Number.POSITIVE_INFINITY) count += 1;
    if (verdict.before < Math.min(verdict.now, pair.first)) isInDoubt = true;
    const isEarlier = pair.now < pair.before || verdict.now < verdict.before;
    if (policy === 'last' && hex === merged && isEarlier) writeMs(table, toKey(WAS_EARLIER, ''), 1);
    const ms = Math.min(pair.first, verdict.now);
    if (ms >= HEARD_MS) isInDoubt = true;
    return { one, hex, ms };
  });
  if (users.length > 0) writeMs(table, countKey, count);
  timed.sort((a, b) => a.ms - b.ms || (a.one[0] < b.one[0] ? -1 : 1));
  if (policy === 'last') timed.reverse();
  return {
    users: timed.map(({ one }) => one),
    areAll: count === users.length && !isInDoubt && !isHeardTime(timed[0]?.one[1] ?? ''),
    isOthers: isOthers(),
  };

  function isOthers(): boolean {
    if (merged === undefined || users.length === 0) return false;
    const isFirst = timed[0]?.hex === merged;
    if (count === users.length && !isInDoubt) return !isFirst;
    // One of those that the facts at hand do not name may have come later.
    if (readNewestMs(table, toKey(WAS_EARLIER, '')) > 0) return true;
    const other = timed.find(({ hex }) => hex !== merged);
    if (!other) return false;
    if (isInDoubt) return true;
    if (timed.some(({ hex }) => hex === merged)) return !isFirst;
    const pairMs = readNewestMs(table, toKey(SEEN_WITH, merged));
    const saidMs = readNewestMs(table, toKey(SAID_TO_BE_OF, merged));
    // Nobody knows whether a verdict still counts that the facts at hand do not say.
    const isKnown = pairMs !== NEVER && (saidMs === NEVER || saidMs >= pairMs);
    return !isKnown || (policy === 'first' ? other.ms <= pairMs : other.ms >= pairMs);
  }
}

type TimeOfUser = Pick<ReadonlyMap<string, string>, 'get'>;

export interface DeviceAtLedger {
  /** Hash of its id. */
  readonly id: Buffer;
  readonly known: IdEntry;
  readonly hash: KeyedHash;
  /** The bucket of the id. */
  readonly table: RecordTable;
  /** When records first showed a user with it. */
  readonly paired: TimeOfUser;
  /** Since when the vendor takes it for a user, as the facts at hand say. */
  readonly said: TimeOfUser;
  /** There are more users than those at hand, which nobody can put in order any more. @default false */
  readonly hasTooMany?: boolean;
}

/**
 * Records of the ledger's table of ids: for each user of a device the first time by pair and by the vendor's verdict, and
 * the number of its users.
 */
const SEEN_WITH = 'seen with';
const SAID_TO_BE_OF = 'said to be of';
/** The user that it was merged into was seen with it before the time that decided so. */
const WAS_EARLIER = 'was earlier';
const UNKNOWN_USERS = 1e9;
/** Nobody knows when: only records name that user whose facts do not count. */
const HEARD_MS = Date.parse(HEARD_TIME);
const NEVER = Number.NEGATIVE_INFINITY;

function writeMs(table: RecordTable, key: Uint8Array, newestMs: number): void {
  if (readNewestMs(table, key) !== newestMs) writeNewestMs(table, key, newestMs);
}
