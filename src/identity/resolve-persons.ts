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
  NO_ONE,
  NO_RENAMES,
  NO_USERS,
  type Renames,
  type UsersFound,
} from './merges/find-users.ts';
import { enterId, type IdEntry, readSentEntry, UNKNOWN_ID } from './merges/id-entry.ts';
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
  const noting: LedgerAtTurn = { ...ledger, purpose: 'note' };
  /** Of the ids with a pair or a user mark. */
  const reported = new Set<string>();
  const decideFor = (id: string, one: KnownId, users: UsersFound) => {
    const placed = one.placed ? toPlaced(one.placed) : NOWHERE;
    const own = {
      isUser: one.isUser,
      isRenamed: renames.has(id),
      placed,
      newestMs: toTimeMs(one.properties?.newestSet ?? ''),
      doubted,
      hasTooMany: one.hasTooMany,
    };
    const decided = decide(id, users, own, isWaiting(one) ? noting : ledger, tables);
    for (const unmerged of decided.unmerged) {
      sink.unmerged(unmerged);
      reported.add(id);
    }
    if (decided.verdict === 'contradicted' && one.isUser)
      sink.contradictedUser(ledger.hash.id(id).toString('hex'));
    return decided;
  };

  for (const [id, one] of known.ids) {
    const isPaired = one.pairs || one.verdicts || one.waitingVerdicts || one.placed;
    // Where only earlier turns know of it, this counts as well.
    if (!isPaired && !one.isUser && !one.properties && !one.active) continue;
    const users = isPaired ? findUsers(id, one, renames, ledger.hash) : NO_USERS;
    const decided = decideFor(id, one, users);
    const { verdict, person, user, floorMs } = decided;
    if (isPaired && verdict === 'merge' && user) {
      sink.merge([user.id, id, user.time]);
      if (users.all.length > 1 && decided.isShared) sink.chosen();
      if (person && floorMs > Number.NEGATIVE_INFINITY)
        sink.lateMerge({ id, user: user.id, of: person.toString('hex'), newestMs: floorMs });
    } else if (isPaired && verdict === 'merged_before') sink.mergedBefore();
    const months = one.active && passActivity(one.active);
    const isPassed = one.properties !== undefined && passPerson(id, one.properties, decided, months);
    if (months && !isPassed) sink.fact({ kind: 'active', of: decided.of, months });
    if (pace.isDue()) await pace.rest();
  }
  for (const group of known.groups.values()) {
    const { groupType, groupKey, time } = group;
    const of = ledger.hash.group(toGroupId(groupType, groupKey)).toString('hex');
    sink.fact({ kind: 'group', of, groupType, groupKey, time, properties: group.properties.text });
    if (pace.isDue()) await pace.rest();
  }

  /** The months with events of the person; of these, those count in which the vendor counts the id beside its user. */
  function passActivity({ isUser, months, besideUser }: StoredActivity): readonly number[] | undefined {
    sink.vendorActive(isUser ? months : months.filter((month) => !besideUser.includes(month)));
    if (months.length <= 1) return months.length === 0 ? undefined : months;
    return [...months].sort((a, b) => a - b);
  }

  /** False where nothing is said of the person. `months`: of the same person, to be said with it. */
  function passPerson(
    id: string,
    properties: PersonProperties,
    { verdict, person, perhaps, of, isJunk, user, floorMs }: Decided,
    months: readonly number[] | undefined,
  ): boolean {
    if (properties.isEmpty) return false;
    if (isJunk) {
      // Many visitors share such an id: their properties folded together would describe nobody.
      if (!reported.has(id)) sink.unmerged({ reason: 'junk_id', id });
      return false;
    }
    // At the destination the id belongs to somebody of whom these properties may not speak.
    if (verdict === 'contradicted') return false;
    if (perhaps) {
      // Each may have the values of the other one, or none of them: these fill gaps, and older ones replace nothing.
      const other = perhaps.toString('hex');
      const timeMs = Math.max(floorMs, toTimeMs(properties.newestSet));
      if (timeMs > Number.NEGATIVE_INFINITY) sink.fact({ kind: 'floor', of, timeMs });
      for (const { key, time } of properties.set.properties())
        sink.fact({ kind: 'floor', of: other, key, timeMs: toTimeMs(time) });
      if (floorMs > Number.NEGATIVE_INFINITY)
        sink.lateMerge({ id, user: undefined, of: other, newestMs: floorMs });
    }
    sink.fact({
      kind: 'person',
      of,
      id: person && user !== undefined ? user.id : id,
      isAlias: person !== undefined && user === undefined,
      properties: properties.text,
      months,
    });
    return true;
  }
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
  /** Hash of the person that the facts of the id are of, in hexadecimal. */
  readonly of: string;
  readonly isJunk: boolean;
  /** The only real user, or the one whose a shared device is, and the time with which they are merged. */
  readonly user: { readonly id: string; readonly time: string } | undefined;
  readonly unmerged: readonly Unmerged[];
  /** Newest time of what was sent under the id itself before. */
  readonly floorMs: number;
  readonly isShared: boolean;
}

/** What the facts at hand say of an id itself. */
interface OwnFacts {
  readonly isUser: boolean;
  readonly isRenamed: boolean;
  readonly placed: readonly Placed[];
  readonly doubted: ReadonlySet<string>;
  /** It has more users than those at hand. */
  readonly hasTooMany: boolean;
  /** Of its set properties. */
  readonly newestMs: number;
}

function decide(
  id: string,
  users: UsersFound,
  own: OwnFacts,
  ledger: LedgerAtTurn,
  tables: ReadonlyMap<number, RecordTable>,
): Decided {
  const { all } = users;
  if (isJunkId(id)) {
    const unmerged = all.length > 0 ? [toUnmerged('junk_id', id, all)] : [];
    return {
      verdict: 'none',
      person: undefined,
      of: ledger.hash.id(id).toString('hex'),
      isJunk: true,
      user: undefined,
      unmerged,
      floorMs: Number.NEGATIVE_INFINITY,
      isShared: false,
    };
  }
  const hasJunk = all.some(([user]) => isJunkId(user));
  const junk = hasJunk ? all.filter(([user]) => isJunkId(user)) : NO_ONE;
  const real = hasJunk ? all.filter(([user]) => !isJunkId(user)) : all;
  const unmerged = junk.length > 0 ? [toUnmerged('junk_id', id, junk)] : [];

  const key = ledger.hash.id(id);
  const { verdict, person, perhaps, entry, known, isOthers } = enter(key, real, users, own, ledger, tables);
  if (verdict === 'contradicted') unmerged.push(toUnmerged('contradicted_merge', id, real));
  else if (verdict !== 'merge' && verdict !== 'merged_before' && verdict !== 'none')
    unmerged.push(toUnmerged(verdict, id, real));
  else if (verdict === 'merged_before' && isOthers) unmerged.push(toUnmerged('merged_otherwise', id, real));
  // A shared device stays with the user that it was merged into, whom these facts need not name.
  const chosen = real.length === 1 && !entry.isShared ? real[0] : findUser(real, person, ledger);
  const table = tables.get(key[0] ?? 0);
  const toTime = (time: string) =>
    table && verdict === 'merge' ? keepMergeTime(time, { id: key, known, hash: ledger.hash, table }) : time;
  return {
    verdict,
    person,
    perhaps,
    of: (person ?? key).toString('hex'),
    isJunk: false,
    user: chosen && { id: chosen[0], time: toTime(toCountedTime(chosen[1])) },
    unmerged,
    floorMs: entry.newestMs,
    isShared: entry.isShared,
  };
}

function findUser(users: readonly UserSeen[], person: Buffer | undefined, { hash }: LedgerAtTurn) {
  return person && users.find(([user]) => person.equals(hash.id(user)));
}

/** Decides about an id that is not junk, by its hash, and enters facts and decision into the ledger. */
function enter(
  key: Buffer,
  users: readonly UserSeen[],
  { paired, said, names }: UsersFound,
  { isUser, isRenamed, placed, doubted, hasTooMany, newestMs }: OwnFacts,
  ledger: LedgerAtTurn,
  tables: ReadonlyMap<number, RecordTable>,
): MergeDecision & Pick<UsersInOrder, 'isOthers'> & { readonly known: IdEntry } {
  const table = tables.get(key[0] ?? 0);
  const known = table ? readSentEntry(table, key, ledger) : UNKNOWN_ID;
  assertNotLate(ledger, known.sentAt);
  const { hash, sharedDevices = 'none' } = ledger;
  const inOrder =
    sharedDevices === 'none' || !table
      ? { users, areAll: true, isOthers: false }
      : orderUsers(
          users,
          { id: key, known: nameUser(known, placed), hash, table, paired, said, hasTooMany },
          sharedDevices,
        );
  if (table && names.size > 0) enterNames(names, { id: key, hash, table });
  const decision = decideMerge(
    known,
    {
      users: inOrder.users.map(([user]) => hash.id(user)),
      hasTooMany,
      isHeard: users.every(([, time]) => isHeardTime(time)),
      areAll: inOrder.areAll && !(doubted.size > 0 && users.some(([user]) => doubted.has(user))),
      isUser,
      isRenamed,
      isByName: names.size > 0,
      areAllNamed: table !== undefined && names.size > 0 && areAllNames(names, { id: key, hash, table }),
      placed,
    },
    ledger,
  );
  const isSentItself =
    ledger.purpose !== 'note' && decision.verdict !== 'contradicted' && decision.person === undefined;
  const entry = isSentItself && newestMs > known.newestMs ? { ...decision.entry, newestMs } : decision.entry;
  if (table) enterId(table, key, entry, known);
  const { verdict, person, perhaps } = decision;
  return { verdict, person, perhaps, entry: decision.entry, known, isOthers: inOrder.isOthers };
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
