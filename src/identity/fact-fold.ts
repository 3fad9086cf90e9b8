import type { IdentityFact } from '../contract/identity-fact.ts';
import { type StoredFact, toGroupId } from '../state/facts/fact-line.ts';
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
  #weight = 0;

  /** Number of ids; 0 when there is nothing to save. */
  get size(): number {
    return this.pairs.size + this.users.size + this.persons.size + this.groups.size;
  }

  /** Estimated memory of the stored facts added so far, in bytes. */
  get weight(): number {
    return this.#weight;
  }

  /** An id that names a known user, with or without an anonymous id beside it. */
  addUser(id: string): void {
    this.users.add(id);
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
    } else {
      this.#group(fact).properties.set.add(fact.time, fact.set);
    }
  }

  addStored(fact: StoredFact): void {
    switch (fact.kind) {
      case 'pair':
        if ((this.pairs.get(fact.anonId)?.size ?? 0) >= USERS_KEPT) return;
        if (addEarliest(this.pairs, fact.anonId, fact.userId, fact.time)) this.#weight += ENTRY_BYTES;
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
    }
  }

  /** All facts, in no particular order. Persons leave the fold with their facts: together they are large. */
  *takeStored(): Generator<StoredFact> {
    for (const [anonId, users] of this.pairs) {
      for (const [userId, time] of users) yield { kind: 'pair', anonId, userId, time };
    }
    for (const id of this.users) yield { kind: 'user', id };
    for (const [id, properties] of this.persons) {
      this.persons.delete(id);
      if (!properties.isEmpty) yield { kind: 'person', id, properties: properties.text };
    }
    for (const { groupType, groupKey, time, properties } of this.groups.values()) {
      yield { kind: 'group', groupType, groupKey, time, properties: properties.text };
    }
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
