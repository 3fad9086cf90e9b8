import type { IdentityFact, JoinFact, RenameFact, Seen } from '../contract/identity-fact.ts';
import { type StoredFact, toGroupId } from '../state/facts/fact-line.ts';
import { joinMonths } from './join-months.ts';
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
  /** Users by anonymous id, with the first time both were seen together. */
  readonly pairs = new Map<string, Map<string, string>>();
  /** Ids that are the user id of some record. */
  readonly users = new Set<string>();
  readonly persons = new Map<string, PersonProperties>();
  readonly groups = new Map<string, GroupFold>();
  /** Pairs that follow from what the vendor says, of stored facts. */
  readonly verdicts = new Map<string, Map<string, string>>();
  /** The same, of ids whose own migrations are still to send their persons. */
  readonly waitingVerdicts = new Map<string, Map<string, string>>();
  /** The vendor's persons that an id is of, and the user of each, as hashes; of stored facts. */
  readonly placed = new Map<string, Map<string, string | undefined>>();
  /** Earlier names under which an id was seen with the users of `verdicts` and `waitingVerdicts`; of stored facts. */
  readonly named = new Map<string, Set<string>>();
  /** Of stored facts. */
  readonly active = new Map<string, Activity>();
  /** By distinct id. */
  readonly #members = new Map<string, Member>();
  readonly #renames = new Map<string, RenameFact>();
  readonly #joins = new Map<string, JoinFact>();
  #weight = 0;

  /** Number of ids; 0 when there is nothing to save. */
  get size(): number {
    return (
      this.pairs.size +
      this.users.size +
      this.persons.size +
      this.groups.size +
      this.verdicts.size +
      this.waitingVerdicts.size +
      this.placed.size +
      this.named.size +
      this.active.size +
      this.#members.size +
      this.#renames.size +
      this.#joins.size
    );
  }

  /** Estimated memory of the stored facts added so far, in bytes. */
  get weight(): number {
    return this.#weight;
  }

  /** An id that names a known user, with or without an anonymous id beside it. */
  addUser(id: string): void {
    this.users.add(id);
  }

  /** Costs most records a look at what is known of their id. `isEvent`: the record counts as activity. */
  addSeen({ id, person, isUser, beside, time }: Seen, isEvent = true): void {
    const month = toMonth(time);
    const member = this.#member(id, person, time);
    if (isUser) member.isUser = true;
    if (time < member.time) member.time = time;
    if (isEvent && member.month !== month) {
      if (member.month !== NO_MONTH) {
        member.others ??= new Set();
        member.others.add(member.month);
      }
      member.month = month;
    }
    if (beside === undefined) return;
    const other = this.#member(beside, person, time);
    if (other.besideMonth !== month) {
      other.besideMonth = month;
      other.besideUser ??= new Set();
      other.besideUser.add(month);
    }
  }

  #member(id: string, person: string | undefined, time: string): Member {
    const first = this.#members.get(id);
    if (!first) {
      const member = createMember(person, time);
      this.#members.set(id, member);
      return member;
    }
    let member = first;
    while (member.person !== person) {
      member.next ??= createMember(person, time);
      member = member.next;
    }
    return member;
  }

  add(fact: IdentityFact): void {
    if (fact.kind === 'pair') {
      this.users.add(fact.userId);
      // An id paired with itself merges nothing, but it is a user id.
      if (fact.anonId !== fact.userId) {
        addEarliest(this.pairs, fact.anonId, fact.userId, fact.time);
      }
    } else if (fact.kind === 'person') {
      const person = this.#person(fact.distinctId);
      if (fact.set) person.set.add(fact.time, fact.set);
      if (fact.setOnce) person.setOnce.add(fact.time, fact.setOnce);
    } else if (fact.kind === 'group') {
      this.#group(fact).properties.set.add(fact.time, fact.set);
    } else if (fact.kind === 'rename') {
      const key = JSON.stringify([fact.from, fact.to]);
      if (fact.time < (this.#renames.get(key)?.time ?? '~')) this.#renames.set(key, fact);
    } else this.#joins.set(JSON.stringify([fact.person, fact.into]), fact);
  }

  addStored(fact: StoredFact): void {
    switch (fact.kind) {
      case 'pair':
        if ((this.pairs.get(fact.anonId)?.size ?? 0) >= USERS_KEPT) return;
        if (addEarliest(this.pairs, fact.anonId, fact.userId, fact.time)) this.#weight += ENTRY_BYTES;
        return;
      case 'verdict':
      case 'waiting_verdict': {
        const verdicts = fact.kind === 'verdict' ? this.verdicts : this.waitingVerdicts;
        if ((verdicts.get(fact.anonId)?.size ?? 0) >= USERS_KEPT) return;
        if (addEarliest(verdicts, fact.anonId, fact.userId, fact.time)) this.#weight += ENTRY_BYTES;
        return;
      }
      case 'placed':
        this.#addPlaced(fact);
        return;
      case 'named':
        this.#addNamed(fact);
        return;
      case 'active':
        this.#addActive(fact);
        return;
      case 'user':
        if (!this.users.has(fact.id)) this.#weight += ENTRY_BYTES;
        this.users.add(fact.id);
        return;
      case 'person':
        this.#weight += this.#person(fact.id).addText(fact.properties);
        return;
      case 'group':
        this.#weight += this.#group(fact).properties.addText(fact.properties);
        return;
      default: // Of other buckets, which have a fold of their own.
    }
  }

  /** All facts, in no particular order. Persons leave the fold with their facts: together they are large. */
  *takeStored(): Generator<StoredFact> {
    for (const [anonId, users] of this.pairs) {
      for (const [userId, time] of users) yield { kind: 'pair', anonId, userId, time };
    }
    for (const [id, { isUser, months, besideUser }] of this.active)
      yield { kind: 'active', id, isUser, months: toSorted(months), besideUser: toSorted(besideUser) };
    for (const [anonId, users] of this.verdicts) {
      for (const [userId, time] of users) yield { kind: 'verdict', anonId, userId, time };
    }
    for (const [anonId, users] of this.waitingVerdicts) {
      for (const [userId, time] of users) yield { kind: 'waiting_verdict', anonId, userId, time };
    }
    for (const [id, persons] of this.placed)
      for (const [person, user] of persons) yield { kind: 'placed', id, person, user };
    for (const [id, names] of this.named) for (const name of names) yield { kind: 'named', id, name };
    for (const [id, first] of this.#members) {
      let months: readonly number[] = [];
      let besideUser: readonly number[] = [];
      let isUser = false;
      for (let one: Member | undefined = first; one; one = one.next) {
        const own = listMonths(one);
        months = months.length === 0 ? own : toSorted(new Set([...months, ...own]));
        if (one.besideUser) besideUser = toSorted(new Set([...besideUser, ...one.besideUser]));
        isUser ||= one.isUser;
        const { person, time } = one;
        if (person !== undefined) yield { kind: 'member', person, id, isUser: one.isUser, time, months: own };
      }
      if (months.length + besideUser.length > 0) yield { kind: 'active', id, isUser, months, besideUser };
    }
    yield* this.#renames.values();
    yield* this.#joins.values();
    for (const id of this.users) yield { kind: 'user', id };
    for (const [id, properties] of this.persons) {
      this.persons.delete(id);
      if (!properties.isEmpty) yield { kind: 'person', id, properties: properties.text };
    }
    for (const { groupType, groupKey, time, properties } of this.groups.values()) {
      yield { kind: 'group', groupType, groupKey, time, properties: properties.text };
    }
  }

  #addPlaced({ id, person, user }: Extract<StoredFact, { kind: 'placed' }>): void {
    const persons = this.placed.get(id) ?? new Map<string, string | undefined>();
    this.placed.set(id, persons);
    if (persons.size >= USERS_KEPT) return;
    if (!persons.has(person)) this.#weight += ENTRY_BYTES;
    persons.set(person, user ?? persons.get(person));
  }

  #addNamed({ id, name }: Extract<StoredFact, { kind: 'named' }>): void {
    const names = this.named.get(id) ?? new Set<string>();
    this.named.set(id, names);
    if (!names.has(name)) this.#weight += ENTRY_BYTES;
    names.add(name);
  }

  #addActive({ id, isUser, months, besideUser }: Extract<StoredFact, { kind: 'active' }>): void {
    let known = this.active.get(id);
    if (!known) {
      this.#weight += 2 * ENTRY_BYTES;
      known = { isUser, months, besideUser };
      this.active.set(id, known);
      return;
    }
    if (isUser) known.isUser = true;
    known.months = joinMonths(known.months, months);
    known.besideUser = joinMonths(known.besideUser, besideUser);
  }

  #person(id: string): PersonProperties {
    let person = this.persons.get(id);
    if (!person) {
      this.#weight += ENTRY_BYTES;
      person = new PersonProperties();
      this.persons.set(id, person);
    }
    return person;
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

/** A vendor's person that an id was seen with; of several, a list. */
interface Member {
  readonly person: string | undefined;
  time: string;
  isUser: boolean;
  /** With events: the last one that was added, as most records are of it, and those before. */
  month: number;
  others: Set<number> | undefined;
  /** In which a record shows the id beside a user. */
  besideMonth: number;
  besideUser: Set<number> | undefined;
  next: Member | undefined;
}

/** In which months an id was seen. */
export interface Activity {
  isUser: boolean;
  /** Each once; the list may be that of others, too. */
  months: readonly number[];
  besideUser: readonly number[];
}

const createMember = (person: string | undefined, time: string): Member => ({
  person,
  time,
  isUser: false,
  month: NO_MONTH,
  others: undefined,
  besideMonth: NO_MONTH,
  besideUser: undefined,
  next: undefined,
});
const NO_MONTH = -1;

const listMonths = ({ month, others }: Member): readonly number[] =>
  others ? toSorted(new Set([...others, month])) : month === NO_MONTH ? [] : [month];

const toSorted = (months: Iterable<number>): number[] => [...months].sort((a, b) => a - b);

/** Months since the year 0 of a time in ISO 8601. */
const toMonth = (time: string): number => {
  const digit = (at: number) => time.charCodeAt(at) - 48;
  const year = digit(0) * 1000 + digit(1) * 100 + digit(2) * 10 + digit(3);
  return year * 12 + digit(5) * 10 + digit(6) - 1;
};

/** Users of one anonymous id that are kept in memory: it is shared by the second one. */
const USERS_KEPT = 10_000;

/** A map entry with its short strings. */
const ENTRY_BYTES = 150;

/** False when both were seen together before. */
function addEarliest(
  into: Map<string, Map<string, string>>,
  id: string,
  other: string,
  time: string,
): boolean {
  const others = into.get(id);
  if (!others) {
    into.set(id, new Map([[other, time]]));
    return true;
  }
  const known = others.get(other);
  if (known === undefined || time < known) others.set(other, time);
  return known === undefined;
}
