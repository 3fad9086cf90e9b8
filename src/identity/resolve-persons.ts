import type { Pace } from '../lib/async/pace.ts';
import { isJunkId } from '../sources/mapping/identity.ts';
import { toGroupId } from '../state/facts/fact-line.ts';
import type { Merge, ResolvedFact } from '../state/facts/resolved-facts.ts';
import type { KeyedHash } from '../state/ledger/keyed-hash.ts';
import type { SharedDevices } from '../state/ledger/ledger.ts';
import type { RecordTable } from '../state/ledger/record-table.ts';
import type { FactFold } from './fact-fold.ts';
import {
  decideMerge,
  enterId,
  type MergeDecision,
  readIdEntry,
  type TurnAtLedger,
  UNKNOWN_ID,
} from './merge-decision.ts';
import type { PersonProperties } from './person-properties.ts';
import type { Unmerged } from './persons-tally.ts';
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
 * Chains cannot arise: the user id of one pair is never accepted as the anonymous id of another. What the facts
 * and the decisions change in the ledger is entered into `tables`, which hold the buckets of all these ids.
 */
export async function resolvePersons(
  known: FactFold,
  ledger: LedgerAtTurn,
  tables: ReadonlyMap<number, RecordTable>,
  sink: ResolvedSink,
  pace: Pace,
): Promise<void> {
  /** Of the ids with a pair or a user mark. */
  const reported = new Set<string>();
  const decideFor = (id: string, users: ReadonlyMap<string, string>) => {
    const newestMs = toTimeMs(known.persons.get(id)?.newestSet ?? '');
    const decided = decide(id, users, { isUser: known.users.has(id), newestMs }, ledger, tables);
    for (const one of decided.unmerged) {
      sink.unmerged(one);
      reported.add(id);
    }
    if (decided.verdict === 'contradicted' && known.users.has(id))
      sink.contradictedUser(ledger.hash.id(id).toString('hex'));
    return decided;
  };

  for (const [id, users] of known.pairs) {
    const decided = decideFor(id, users);
    const { verdict, person, user, floorMs } = decided;
    if (verdict === 'merge' && user) {
      sink.merge([user.id, id, user.time]);
      if (users.size > 1 && decided.isShared) sink.chosen();
      if (person && floorMs > Number.NEGATIVE_INFINITY)
        sink.lateMerge({ id, user: user.id, of: person.toString('hex'), newestMs: floorMs });
    } else if (verdict === 'merged_before') sink.mergedBefore();
    const facts = known.persons.get(id);
    if (facts) passPerson(id, facts, decided);
    if (pace.isDue()) await pace.rest();
  }
  for (const id of known.users) {
    if (known.pairs.has(id)) continue;
    const decided = decideFor(id, NO_USERS);
    const facts = known.persons.get(id);
    if (facts) passPerson(id, facts, decided);
    if (pace.isDue()) await pace.rest();
  }
  for (const [id, facts] of known.persons) {
    if (known.pairs.has(id) || known.users.has(id)) continue;
    const decided = decideFor(id, NO_USERS);
    passPerson(id, facts, decided);
    if (pace.isDue()) await pace.rest();
  }
  for (const group of known.groups.values()) {
    const { groupType, groupKey, time } = group;
    const of = ledger.hash.group(toGroupId(groupType, groupKey)).toString('hex');
    sink.fact({ kind: 'group', of, groupType, groupKey, time, properties: group.properties.text });
    if (pace.isDue()) await pace.rest();
  }

  function passPerson(
    id: string,
    properties: PersonProperties,
    { verdict, person, perhaps, user, floorMs }: Decided,
  ): void {
    if (properties.isEmpty) return;
    if (isJunkId(id)) {
      // Many visitors share such an id: their properties folded together would describe nobody.
      if (!reported.has(id)) sink.unmerged({ reason: 'junk_id', id });
      return;
    }
    // At the destination the id belongs to somebody of whom these properties may not speak.
    if (verdict === 'contradicted') return;
    const of = (person ?? ledger.hash.id(id)).toString('hex');
    if (perhaps) {
      // Each may have the values of the other one, or none of them: these fill gaps, and older ones replace nothing.
      const other = perhaps.toString('hex');
      const timeMs = Math.max(floorMs, toTimeMs(properties.newestSet));
      if (timeMs > Number.NEGATIVE_INFINITY) sink.fact({ kind: 'floor', of, timeMs });
      for (const [key, time] of properties.set.properties())
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
    });
  }
}

const NO_USERS: ReadonlyMap<string, string> = new Map();

interface Decided extends Pick<MergeDecision, 'verdict' | 'person' | 'perhaps'> {
  /** The only real user, or the one whose a shared device is, with the first time both were seen together. */
  readonly user: { readonly id: string; readonly time: string } | undefined;
  readonly unmerged: readonly Unmerged[];
  /** Newest time of what was sent under the id itself before. */
  readonly floorMs: number;
  readonly isShared: boolean;
}

/** What the facts at hand say of an id itself. */
interface OwnFacts {
  readonly isUser: boolean;
  /** Of its set properties. */
  readonly newestMs: number;
}

function decide(
  id: string,
  users: ReadonlyMap<string, string>,
  own: OwnFacts,
  ledger: LedgerAtTurn,
  tables: ReadonlyMap<number, RecordTable>,
): Decided {
  const all = [...users];
  if (isJunkId(id)) {
    const unmerged = all.length > 0 ? [toUnmerged('junk_id', id, all)] : [];
    return {
      verdict: 'none',
      person: undefined,
      user: undefined,
      unmerged,
      floorMs: Number.NEGATIVE_INFINITY,
      isShared: false,
    };
  }
  const real = sortUsers(
    all.filter(([user]) => !isJunkId(user)),
    ledger.sharedDevices,
  );
  const junk = all.filter(([user]) => isJunkId(user));
  const unmerged = junk.length > 0 ? [toUnmerged('junk_id', id, junk)] : [];

  const { verdict, person, perhaps, entry } = enter(
    id,
    real.map(([user]) => user),
    own,
    ledger,
    tables,
  );
  if (verdict === 'contradicted') unmerged.push(toUnmerged('contradicted_merge', id, real));
  else if (verdict !== 'merge' && verdict !== 'merged_before' && verdict !== 'none')
    unmerged.push(toUnmerged(verdict, id, real));
  const chosen = real.length === 1 ? real[0] : findUser(real, person, ledger);
  return {
    verdict,
    person,
    perhaps,
    user: chosen && { id: chosen[0], time: chosen[1] },
    unmerged,
    floorMs: entry.newestMs,
    isShared: entry.isShared,
  };
}

type UserSeen = readonly [user: string, time: string];

/** The one comes first whose a shared device is; ties are decided by the text of the id. */
function sortUsers(users: readonly UserSeen[], sharedDevices: SharedDevices = 'none'): readonly UserSeen[] {
  if (sharedDevices === 'none' || users.length < 2) return users;
  const sorted = users.toSorted(([a, first], [b, second]) =>
    first === second ? (a < b ? -1 : 1) : first < second ? -1 : 1,
  );
  return sharedDevices === 'first' ? sorted : sorted.reverse();
}

function findUser(users: readonly UserSeen[], person: Buffer | undefined, { hash }: LedgerAtTurn) {
  return person && users.find(([user]) => person.equals(hash.id(user)));
}

/** Decides about an id that is not junk, and enters facts and decision into the ledger. */
function enter(
  id: string,
  users: readonly string[],
  { isUser, newestMs }: OwnFacts,
  ledger: LedgerAtTurn,
  tables: ReadonlyMap<number, RecordTable>,
): MergeDecision {
  const key = ledger.hash.id(id);
  const table = tables.get(key[0] ?? 0);
  const known = table ? readIdEntry(table, key) : UNKNOWN_ID;
  const decision = decideMerge(known, { users: users.map((user) => ledger.hash.id(user)), isUser }, ledger);
  const isSentItself =
    ledger.purpose !== 'note' && decision.verdict !== 'contradicted' && decision.person === undefined;
  const entry = isSentItself && newestMs > known.newestMs ? { ...decision.entry, newestMs } : decision.entry;
  if (table) enterId(table, key, entry, known);
  return decision;
}

const USERS_SHOWN = 5;

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
