import type { Heard } from '../contract/heard.ts';
import { joinTimes } from '../contract/heard-time.ts';
import type { IdentityFact, JoinFact, RenameFact, Seen } from '../contract/identity-fact.ts';
import type { BucketLines } from '../state/facts/bucket-lines.ts';
import {
  type StoredActivity,
  type StoredFact,
  type StoredMember,
  toGroupId,
  writeFact,
} from '../state/facts/fact-line.ts';
import { NO_PROPERTIES } from '../state/facts/snapshots.ts';
import { KnownId, type Member, NO_MONTH, toStoredMember, USERS_KEPT } from './known-id.ts';
import { UserTimes } from './merges/user-times.ts';
import { PersonProperties } from './person-properties.ts';

export interface GroupFold {
  readonly groupType: string;
  readonly groupKey: string;
  /** The latest. */
  time: string;
  /** All of them are set. */
  readonly properties: PersonProperties;
}

/**
 * Folds the identity facts of a part, or stored facts of many parts. Folding is associative, commutative and
 * idempotent, so the result does not depend on how parts were cut, on their order, or on parts that were
 * read twice (I2).
 */
export class FactFold {
  readonly ids = new Map<string, KnownId>();
  readonly groups = new Map<string, GroupFold>();
  readonly #renames = new Map<string, RenameFact>();
  readonly #joins = new Map<string, JoinFact>();
  /** Most facts are of the id of the one before. */
  #lastId = '';
  #last: KnownId | undefined;
  #weight = 0;

  /** Number of ids; 0 when there is nothing to save. */
  get size(): number {
    return this.ids.size + this.groups.size + this.#renames.size + this.#joins.size;
  }

  /** Estimated memory of the stored facts added so far, in bytes. */
  get weight(): number {
    return this.#weight;
  }

  /** An id that names a known user, with or without an anonymous id beside it. */
  addUser(id: string): void {
    this.#id(id).isUser = true;
  }

  /** Costs most records a look at what is known of their id. `isEvent`: the record counts as activity. */
  addSeen({ id, person, isUser, beside, time }: Seen, isEvent = true): void {
    const month = toMonth(time);
    const member = this.#id(id).findMember(id, person, time);
    if (isUser) member.isUser = true;
    member.time = joinTimes(member.time, time);
    if (isEvent && member.month !== month) {
      if (member.month !== NO_MONTH) {
        member.others ??= new Set();
        member.others.add(member.month);
      }
      member.month = month;
    }
    if (beside === undefined) return;
    const other = this.#id(beside).findMember(beside, person, time);
    if (other.besideMonth !== month) {
      if (other.besideMonth !== NO_MONTH) {
        other.othersBeside ??= new Set();
        other.othersBeside.add(other.besideMonth);
      }
      other.besideMonth = month;
    }
  }

  add(fact: IdentityFact): void {
    if (fact.kind === 'pair') {
      this.addUser(fact.userId);
      // An id paired with itself merges nothing, but it is a user id.
      if (fact.anonId !== fact.userId) addPair(this.#id(fact.anonId), 'pairs', fact.userId, fact.time);
    } else if (fact.kind === 'person') {
      const properties = this.#id(fact.distinctId).open();
      if (fact.set) properties.set.add(fact.time, fact.set);
      if (fact.setOnce) properties.setOnce.add(fact.time, fact.setOnce);
    } else if (fact.kind === 'group') {
      this.#group(fact).properties.set.add(fact.time, fact.set);
    } else if (fact.kind === 'rename') {
      const key = JSON.stringify([fact.from, fact.to]);
      if (fact.time < (this.#renames.get(key)?.time ?? '~')) this.#renames.set(key, fact);
    } else this.#joins.set(JSON.stringify([fact.person, fact.into]), fact);
  }

  addStored(fact: StoredFact): void {
    switch (fact.kind) {
      case 'id': {
        const known = this.#id(fact.id);
        if (fact.isUser) known.isUser = true;
        for (const [userId, time] of fact.pairs) this.#addPair(known, 'pairs', userId, time);
        if (fact.active) this.#addActive(known, fact.active);
        if (fact.properties !== NO_PROPERTIES) this.#weight += known.open().addText(fact.properties);
        return;
      }
      case 'pair':
        this.#addPair(this.#id(fact.anonId), 'pairs', fact.userId, fact.time);
        return;
      case 'verdict':
        this.#addPair(this.#id(fact.anonId), 'verdicts', fact.userId, fact.time);
        return;
      case 'waiting_verdict':
        this.#addPair(this.#id(fact.anonId), 'waitingVerdicts', fact.userId, fact.time);
        return;
      case 'placed':
        this.#addPlaced(fact);
        return;
      case 'named':
        this.#addNamed(fact);
        return;
      case 'active':
        this.#addActive(this.#id(fact.id), fact);
        return;
      case 'user':
        this.addUser(fact.id);
        return;
      case 'person':
        this.#weight += this.#id(fact.id).open().addText(fact.properties);
        return;
      case 'group':
        this.#weight += this.#group(fact).properties.addText(fact.properties);
        return;
      default: // Of other buckets, which have a fold of their own.
    }
  }

  /** All facts, in no particular order. Properties of persons leave the fold with them. */
  *takeStored(): Generator<StoredFact> {
    for (const [id, known] of this.ids) {
      const stored = known.takeStored(id);
      if (stored) yield stored;
      if (known.verdicts || known.waitingVerdicts || known.placed || known.named)
        yield* listVerdicts(id, known);
    }
    yield* this.#listOthers();
  }

  /**
   * Writes what `takeStored` lists: of the records of a part, whose properties are copied from its bytes, so that no
   * text of them is made. Nothing may be asked of the fold afterwards.
   */
  writeLines(lines: BucketLines): void {
    for (const [id, known] of this.ids) {
      known.writeLine(id, lines);
      if (known.verdicts || known.waitingVerdicts || known.placed || known.named)
        for (const fact of listVerdicts(id, known)) writeFact(fact, lines);
    }
    for (const fact of this.#listOthers()) writeFact(fact, lines);
  }

  *#listOthers(): Generator<StoredFact> {
    for (const [person, first] of this.#linkMembers()) {
      const members: StoredMember[] = [];
      for (let one: Member | undefined = first; one; one = one.sibling) members.push(toStoredMember(one));
      yield { kind: 'members', person, members: sortMembers(members) };
    }
    yield* this.#renames.values();
    yield* this.#joins.values();
    for (const { groupType, groupKey, time, properties } of this.groups.values()) {
      yield { kind: 'group', groupType, groupKey, time, properties: properties.text };
    }
  }

  /** By the vendor's person, the last of its ids; each has the one before. */
  #linkMembers(): Map<string, Member> {
    const byPerson = new Map<string, Member>();
    for (const { members } of this.ids.values()) {
      for (let one = members; one; one = one.next) {
        if (one.person === undefined) continue;
        one.sibling = byPerson.get(one.person);
        byPerson.set(one.person, one);
      }
    }
    return byPerson;
  }

  #id(id: string): KnownId {
    if (id === this.#lastId && this.#last) return this.#last;
    let known = this.ids.get(id);
    if (!known) {
      this.#weight += ID_BYTES;
      known = new KnownId();
      this.ids.set(id, known);
    }
    this.#lastId = id;
    this.#last = known;
    return known;
  }

  #addPair(known: KnownId, kind: PairKind, userId: string, time: string): void {
    const users = known[kind];
    // One more than are kept says for good that there are more.
    if (users !== undefined && users.size > USERS_KEPT && !users.has(userId)) return;
    if (addPair(known, kind, userId, time)) this.#weight += ENTRY_BYTES;
  }

  #addActive(known: KnownId, active: StoredActivity): void {
    if (!known.active) this.#weight += ENTRY_BYTES;
    known.addActive(active);
  }

  #addPlaced({ id, person, user }: Extract<StoredFact, { kind: 'placed' }>): void {
    const known = this.#id(id);
    known.placed ??= new Map();
    if (known.placed.size >= USERS_KEPT) return;
    if (!known.placed.has(person)) this.#weight += ENTRY_BYTES;
    known.placed.set(person, user ?? known.placed.get(person));
  }

  #addNamed({ id, name }: Extract<StoredFact, { kind: 'named' }>): void {
    const known = this.#id(id);
    known.named ??= new Set();
    if (!known.named.has(name)) this.#weight += ENTRY_BYTES;
    known.named.add(name);
  }

  #group({ groupType, groupKey, time }: Pick<GroupFold, 'groupType' | 'groupKey' | 'time'>): GroupFold {
    const id = toGroupId(groupType, groupKey);
    let group = this.groups.get(id);
    if (!group) {
      this.#weight += ENTRY_BYTES;
      group = { groupType, groupKey, time, properties: new PersonProperties() };
      this.groups.set(id, group);
    }
    if (time > group.time) group.time = time;
    return group;
  }
}

/** Months since the year 0 of a time in ISO 8601. */
const toMonth = (time: string): number => {
  const digit = (at: number) => time.charCodeAt(at) - 48;
  const year = digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  return year * 12 + digit(5) * 10 + digit(6) - 1;
};

/** A map entry with its short strings. */
const ENTRY_BYTES = 150;

/** An id with what is known of it. */
const ID_BYTES = 250;

type PairKind = 'pairs' | 'verdicts' | 'waitingVerdicts';

/** False when both were seen together before. */
function addPair(known: KnownId, kind: PairKind, userId: string, time: string): boolean {
  const users = known[kind];
  if (users) return users.add(userId, time);
  known[kind] = new UserTimes(userId, time);
  return true;
}

/** Mostly one or two. */
function sortMembers(members: StoredMember[]): readonly StoredMember[] {
  const [first, second] = members;
  if (members.length > 2 || !first || !second) return members.sort(compareIds);
  return compareIds(first, second) < 0 ? members : [second, first];
}

const compareIds = ({ id: a }: StoredMember, { id: b }: StoredMember): number => (a < b ? -1 : 1);

/** What follows from what the vendor says of an id. */
function* listVerdicts(id: string, known: KnownId): Generator<StoredFact> {
  const { verdicts, waitingVerdicts, placed, named } = known;
  for (const [userId, time] of verdicts?.map ?? []) yield { kind: 'verdict', anonId: id, userId, time };
  for (const [userId, time] of waitingVerdicts?.map ?? [])
    yield { kind: 'waiting_verdict', anonId: id, userId, time };
  for (const [person, user] of placed ?? []) yield { kind: 'placed', id, person, user };
  for (const name of named ?? []) yield { kind: 'named', id, name };
}

/** What keeps ids apart, and counts as nobody's activity. */
export function addHeard(
  fold: Pick<FactFold, 'add' | 'addUser' | 'addSeen'>,
  { userIds, facts, seen }: Heard,
): void {
  for (const id of userIds) fold.addUser(id);
  for (const fact of facts) fold.add(fact);
  for (const one of seen) fold.addSeen(one, false);
}
