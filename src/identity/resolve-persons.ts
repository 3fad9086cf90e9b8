import { isHeardTime, toCountedTime } from '../contract/heard-time.ts';
import type { Pace } from '../lib/async/pace.ts';
import { isJunkId } from '../sources/mapping/identity.ts';
import { type StoredActivity, toGroupId } from '../state/facts/fact-line.ts';
import type { Merge, ResolvedFact } from '../state/facts/resolved-facts.ts';
import type { KeyedHash } from '../state/ledger/keyed-hash.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import type { FactFold } from './fact-fold.ts';
import type { KnownId } from './known-id.ts';
import { areAllNames, enterNames } from './merges/earlier-names.ts';
import {
  findUsers,
  NO_NAMES,
  NO_RENAMES,
  NO_USERS,
  type Renames,
  type UsersFound,
} from './merges/find-users.ts';
import { enterId, readSentEntry, UNKNOWN_ID } from './merges/id-entry.ts';
import {
  assertNotLate,
  decideMerge,
  type MergeDecision,
  nameUser,
  type Placed,
  type TurnAtLedger,
} from './merges/merge-decision.ts';
import { keepMergeTime } from './merges/merge-time.ts';
import { orderUsers, type UserSeen, type UsersInOrder } from './merges/users-seen.ts';
import type { PersonProperties } from './person-properties.ts';
import { type Unmerged, USERS_SHOWN } from './persons-tally.ts';
import { toTimeMs } from './property-decision.ts';
import type { LateMerge } from './recall-values.ts';

/** The ledger as one turn sees it; tables by bucket. */
export interface LedgerAtTurn extends TurnAtLedger {
  readonly hash: KeyedHash;
}

/** Takes what was decided. */
export interface ResolvedSink {
  merge(merge: Merge): void;
  fact(fact: ResolvedFact): void;
  unmerged(one: Unmerged): void;
  /** Something was sent before under an anonymous id itself that is merged now, or perhaps was. */
  lateMerge(late: LateMerge): void;
  /** A pair whose merge an earlier turn has sent. */
  mergedBefore(): void;
  /** Months in which the vendor counts the id as a user of its own. */
  vendorActive(months: Iterable<number>): void;
  /** A shared device that is merged into one of its users. */
  chosen(): void;
  /**
   * A user that was merged into another one before it was known as a user: what it is merged with now would
   * reach that other one. In hexadecimal.
   */
  contradictedUser(of: string): void;
}

/**
 * Decides which identities belong together, from all facts known under the ids of `known` and from what the
 * ledger knows of these ids: an anonymous id that was seen with exactly one user, and never as a user id
 * itself, is merged into that user. Every other pair stays unmerged, because a wrong merge cannot be undone.
 * Chains cannot arise: the user id of one pair is never accepted as the anonymous id of another, and a user that was
 * renamed is replaced by the id that it has by now. What the facts
 * and the decisions change in the ledger is entered into `tables`, which hold the buckets of all these ids.
 */
export async function resolvePersons(
  known: FactFold,
  ledger: LedgerAtTurn,
  tables: ReadonlyMap<number, RecordTable>,
  sink: ResolvedSink,
  pace: Pace,
  { renames = NO_RENAMES, doubted = NO_NAMES }: NamesAtHand = {},
): Promise<void> {
  const at: Resolving = { ledger, tables, sink, renames, doubted };
  const ids = known.ids.entries();
  while (resolveSome(ids, at)) if (pace.isDue()) await pace.rest();
  for (const group of known.groups.values()) {
    const { groupType, groupKey, time } = group;
    const of = ledger.hash.group(toGroupId(groupType, groupKey)).toString('hex');
    sink.fact({ kind: 'group', of, groupType, groupKey, time, properties: group.properties.text });
    if (pace.isDue()) await pace.rest();
  }
}

/*
 * What follows are functions that are made once: of ones that are made for each call V8 would compile every caller once
 * more.
 */

/** What the ids of one call have in common. */
interface Resolving {
  readonly ledger: LedgerAtTurn;
  readonly tables: ReadonlyMap<number, RecordTable>;
  readonly sink: ResolvedSink;
  readonly renames: Renames;
  readonly doubted: ReadonlySet<string>;
}

/** Ids between two calls of `isDue`. */
const IDS_AT_ONCE = 16;

/** False where none is left. In a function that awaits, V8 would make a list of each id and what is known of it. */
function resolveSome(ids: Iterator<[string, KnownId]>, at: Resolving): boolean {
  for (let count = 0; count < IDS_AT_ONCE; count += 1) {
    const next = ids.next();
    if (next.done) return false;
    const [id, one] = next.value;
    resolveId(id, one, at);
  }
  return true;
}

function resolveId(id: string, one: KnownId, at: Resolving): void {
  const { ledger, sink, renames } = at;
  const { properties, active } = one;
  const isPaired = one.pairs || one.verdicts || one.waitingVerdicts || one.placed;
  // Where only earlier turns know of it, this counts as well.
  if (!isPaired && !one.isUser && !properties && !active) return;
  const users = isPaired ? findUsers(id, one, renames, ledger.hash) : NO_USERS;
  const decided = decide(id, one, users, at);
  const { verdict, person, userId, floorMs } = decided;
  if (verdict === 'contradicted' && one.isUser) sink.contradictedUser(decided.key.toString('hex'));
  if (isPaired && verdict === 'merge' && userId !== undefined) {
    sink.merge([userId, id, decided.time]);
    if (users.all.length > 1 && decided.isShared) sink.chosen();
    if (person && floorMs > Number.NEGATIVE_INFINITY)
      sink.lateMerge({ id, user: userId, of: person.toString('hex'), newestMs: floorMs });
  } else if (isPaired && verdict === 'merged_before') sink.mergedBefore();
  const months = active && passActivity(active, sink);
  const isPassed = properties !== undefined && passPerson(id, properties, decided, months, sink);
  if (months && !isPassed) sink.fact({ kind: 'active', of: toSubject(decided), months });
}

/** The months with events of the person; of these, those count in which the vendor counts the id beside its user. */
function passActivity(
  { isUser, months, besideUser }: StoredActivity,
  sink: ResolvedSink,
): readonly number[] | undefined {
  const areAll = isUser || besideUser.length === 0;
  sink.vendorActive(areAll ? months : months.filter((month) => !besideUser.includes(month)));
  if (months.length <= 1) return months.length === 0 ? undefined : months;
  return [...months].sort((a, b) => a - b);
}

/** False where nothing is said of the person. `months`: of the same person, to be said with it. */
function passPerson(
  id: string,
  properties: PersonProperties,
  decided: Decided,
  months: readonly number[] | undefined,
  sink: ResolvedSink,
): boolean {
  // At the destination a contradicted id belongs to somebody of whom these properties may not speak.
  if (properties.isEmpty || decided.isJunk || decided.verdict === 'contradicted') return false;
  const { person, perhaps, userId } = decided;
  const of = toSubject(decided);
  if (perhaps) passFloors(id, properties, decided, { of, other: perhaps.toString('hex') }, sink);
  sink.fact({
    kind: 'person',
    of,
    id: person && userId !== undefined ? userId : id,
    isAlias: person !== undefined && userId === undefined,
    properties: properties.text,
    months,
  });
  return true;
}

/** Each may have the values of the other one, or none of them: these fill gaps, and older ones replace nothing. */
function passFloors(
  id: string,
  properties: PersonProperties,
  { floorMs }: Decided,
  { of, other }: { readonly of: string; readonly other: string },
  sink: ResolvedSink,
): void {
  const timeMs = Math.max(floorMs, toTimeMs(properties.newestSet));
  if (timeMs > Number.NEGATIVE_INFINITY) sink.fact({ kind: 'floor', of, timeMs });
  for (const { key, time } of properties.set.properties())
    sink.fact({ kind: 'floor', of: other, key, timeMs: toTimeMs(time) });
  if (floorMs > Number.NEGATIVE_INFINITY)
    sink.lateMerge({ id, user: undefined, of: other, newestMs: floorMs });
}

export interface NamesAtHand {
  /** @default none */
  readonly renames?: Renames | undefined;
  /** Users who may be one with another one: see loadDoubted. @default none */
  readonly doubted?: ReadonlySet<string> | undefined;
}

const NOWHERE: readonly Placed[] = [];

const toPlaced = (placed: ReadonlyMap<string, string | undefined>): Placed[] =>
  [...placed].map(([person, user]) => ({
    person: Buffer.from(person, 'hex'),
    user: user === undefined ? undefined : Buffer.from(user, 'hex'),
  }));

/** Only migrations that are still to send their persons speak of it: they merge it, or are contradicted by then. */
const isWaiting = ({ waitingVerdicts, pairs, verdicts, isUser, properties, active }: KnownId): boolean =>
  waitingVerdicts !== undefined && !pairs && !verdicts && !isUser && !properties && !active;

interface Decided extends Pick<MergeDecision, 'verdict' | 'person' | 'perhaps'> {
  /** Hash of the id. */
  readonly key: Buffer;
  readonly isJunk: boolean;
  /** The only real user, or the one whose a shared device is. */
  readonly userId: string | undefined;
  /** With which they are merged. */
  readonly time: string;
  /** Newest time of what was sent under the id itself before. */
  readonly floorMs: number;
  readonly isShared: boolean;
}

/** Hash of the person that the facts of an id are of, in hexadecimal. */
const toSubject = ({ person, key }: Decided): string => (person ?? key).toString('hex');

function decide(id: string, one: KnownId, { all, paired, said, names }: UsersFound, at: Resolving): Decided {
  const { tables, sink, renames, doubted } = at;
  const { hash } = at.ledger;
  const key = hash.id(id);
  if (isJunkId(id)) {
    // Many visitors share such an id: their properties folded together would describe nobody.
    if (all.length > 0) sink.unmerged(toUnmerged('junk_id', id, all));
    else if (one.properties?.isEmpty === false) sink.unmerged({ reason: 'junk_id', id });
    return {
      verdict: 'none',
      person: undefined,
      perhaps: undefined,
      key,
      isJunk: true,
      userId: undefined,
      time: '',
      floorMs: Number.NEGATIVE_INFINITY,
      isShared: false,
    };
  }
  let users = all;
  if (hasJunk(all)) {
    const junk = all.filter(([user]) => isJunkId(user));
    sink.unmerged(toUnmerged('junk_id', id, junk));
    users = all.filter(([user]) => !isJunkId(user));
  }
  const ledger: LedgerAtTurn = isWaiting(one) ? { ...at.ledger, purpose: 'note' } : at.ledger;
  const table = tables.get(key[0] ?? 0);
  const known = table ? readSentEntry(table, key, ledger) : UNKNOWN_ID;
  assertNotLate(ledger, known.sentAt);
  const placed = one.placed ? toPlaced(one.placed) : NOWHERE;
  const { sharedDevices = 'none' } = ledger;
  const { hasTooMany } = one;
  let inOrder: UsersInOrder | undefined;
  if (sharedDevices !== 'none' && table)
    inOrder = orderUsers(
      users,
      { id: key, known: nameUser(known, placed), hash, table, paired, said, hasTooMany },
      sharedDevices,
    );
  const isByName = names.size > 0;
  if (table && isByName) enterNames(names, { id: key, hash, table });
  const ordered = inOrder?.users ?? users;
  const hashes = hashUsers(ordered, hash);
  const { verdict, person, perhaps, entry } = decideMerge(
    known,
    {
      users: hashes,
      hasTooMany,
      isHeard: areHeard(users),
      areAll: inOrder?.areAll !== false && !(doubted.size > 0 && users.some(([user]) => doubted.has(user))),
      isUser: one.isUser,
      isRenamed: renames.has(id),
      isByName,
      areAllNamed: table !== undefined && isByName && areAllNames(names, { id: key, hash, table }),
      placed,
    },
    ledger,
  );
  const floorMs = known.newestMs;
  if (table) {
    const isSentItself = ledger.purpose !== 'note' && verdict !== 'contradicted' && person === undefined;
    const newestMs = isSentItself && one.properties ? toTimeMs(one.properties.newestSet) : floorMs;
    if (newestMs > floorMs) entry.newestMs = newestMs;
    enterId(table, key, entry, known);
  }
  const reason = toReason(verdict, inOrder?.isOthers === true);
  if (reason) sink.unmerged(toUnmerged(reason, id, users));
  // A shared device stays with the user that it was merged into, whom these facts need not name.
  let chosen: UserSeen | undefined;
  if (ordered.length === 1 && !entry.isShared) chosen = ordered[0];
  else if (person) chosen = ordered.find((_, place) => hashes[place]?.equals(person));
  let time = chosen ? toCountedTime(chosen[1]) : '';
  if (chosen && table && verdict === 'merge') time = keepMergeTime(time, { id: key, known, hash, table });
  return {
    verdict,
    person,
    perhaps,
    key,
    isJunk: false,
    userId: chosen?.[0],
    time,
    floorMs,
    isShared: entry.isShared,
  };
}

function hasJunk(users: readonly UserSeen[]): boolean {
  for (const [user] of users) if (isJunkId(user)) return true;
  return false;
}

function areHeard(users: readonly UserSeen[]): boolean {
  for (const [, time] of users) if (!isHeardTime(time)) return false;
  return true;
}

/** Most ids have no user, or one. */
const hashUsers = (users: readonly UserSeen[], hash: KeyedHash): readonly Buffer[] =>
  users.length === 0 ? NO_HASHES : users.map(([user]) => hash.id(user));
const NO_HASHES: readonly Buffer[] = [];

/** Why an id stays apart from its users; `isOthers`: see UsersInOrder. */
function toReason(verdict: MergeDecision['verdict'], isOthers: boolean): Unmerged['reason'] | undefined {
  if (verdict === 'contradicted') return 'contradicted_merge';
  if (verdict === 'merged_before' && isOthers) return 'merged_otherwise';
  return verdict === 'merge' || verdict === 'merged_before' || verdict === 'none' ? undefined : verdict;
}

function toUnmerged(
  reason: Unmerged['reason'],
  id: string,
  users: readonly (readonly [string, string])[],
): Unmerged {
  const earliestFirst = users.map(([user, time]) => `${time} ${user}`).sort();
  return {
    reason,
    id,
    users: earliestFirst.slice(0, USERS_SHOWN).map((text) => text.slice(text.indexOf(' ') + 1)),
    userCount: users.length,
  };
}
