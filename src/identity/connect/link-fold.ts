import { joinTimes } from '../../contract/heard-time.ts';
import { cutPersonOf } from '../../contract/identity-fact.ts';
import type { StoredFact, StoredMember } from '../../state/facts/fact-line.ts';
import { joinMonths } from '../known-id.ts';

/** Users of one person of a vendor that are kept: with the second one, none is merged. */
const USERS_KEPT = 10_000;
/** A map entry with its short strings. */
const ENTRY_BYTES = 150;

/** Ids of one person of a vendor, with the time at which each was first seen. */
export interface VendorPerson {
  users: ReadonlyMap<string, string>;
  others: ReadonlyMap<string, string>;
  /** As migrations say that are still to send their persons; an id may be among the others as well. */
  waiting: ReadonlyMap<string, string>;
  /** With events. */
  months: readonly number[];
  /** Facts at hand speak of it, and not only those of other migrations. */
  isOwn: boolean;
}

type LinkOf = Pick<Link, 'isKnown' | 'isWaiting'> & { readonly person: string };

/** `isKnown`: by another migration. `isWaiting`: which is still to send its persons. */
export type Link = StoredFact & { readonly isKnown?: boolean; readonly isWaiting?: boolean };

/** Most persons have one user, one other id and none of which they wait: only these get maps of their own. */
const NO_IDS: ReadonlyMap<string, string> = new Map();
const NO_MONTHS: readonly number[] = [];

/** Folds the members of a vendor's persons; associative, commutative and idempotent as FactFold is. */
export class LinkFold {
  readonly persons = new Map<string, VendorPerson>();
  #weight = 0;

  get weight(): number {
    return this.#weight;
  }

  add(fact: Link): void {
    if (fact.kind === 'members') for (const member of fact.members) this.#add(fact, member);
    else if (fact.kind === 'member') this.#add(fact, fact);
  }

  #add(fact: LinkOf, member: StoredMember): void {
    let person = this.persons.get(fact.person);
    if (!person) {
      person = { users: NO_IDS, others: NO_IDS, waiting: NO_IDS, months: NO_MONTHS, isOwn: false };
      this.persons.set(fact.person, person);
      this.#weight += 2 * ENTRY_BYTES;
    }
    if (!fact.isKnown) {
      person.isOwn = true;
      person.months = joinMonths(person.months, member.months);
    }
    const kind = member.isUser ? 'users' : fact.isWaiting ? 'waiting' : 'others';
    const known = person[kind].get(member.id);
    if (member.isUser && known === undefined && person.users.size >= USERS_KEPT) return;
    if (known === undefined) this.#weight += ENTRY_BYTES;
    const time = known === undefined ? member.time : joinTimes(known, member.time);
    if (person[kind] === NO_IDS) person[kind] = new Map();
    (person[kind] as Map<string, string>).set(member.id, time);
  }

  *list(): Generator<Link> {
    for (const [person, { users, others, waiting, months, isOwn }] of this.persons) {
      // Months are of the person; which of its ids they are of is not asked any more.
      const of = { kind: 'member', person, months, isKnown: !isOwn } as const;
      for (const [id, time] of users) yield { ...of, id, isUser: true, time };
      for (const [id, time] of others) yield { ...of, id, isUser: false, time };
      for (const [id, time] of waiting)
        yield { ...of, id, isUser: false, time, isKnown: true, isWaiting: true };
    }
  }
}

/** Connects the persons of a vendor that are one. Each group is known by the first of its names in text order. */
export class JoinedPersons {
  readonly #parents = new Map<string, string>();

  get size(): number {
    return this.#parents.size;
  }

  join(a: string, b: string): void {
    const first = this.find(a);
    const second = this.find(b);
    if (!this.#parents.has(a)) this.#parents.set(a, first);
    if (!this.#parents.has(b)) this.#parents.set(b, second);
    if (first < second) this.#parents.set(second, first);
    else if (second < first) this.#parents.set(first, second);
  }

  /** Itself, where it was joined with nobody. */
  find(person: string): string {
    if (this.#parents.size === 0) return person;
    const [id, project] = cutPersonOf(person);
    return `${this.#findRoot(id)}${project}`;
  }

  #findRoot(person: string): string {
    let root = person;
    for (let next = this.#parents.get(root); next !== undefined && next !== root; ) {
      root = next;
      next = this.#parents.get(root);
    }
    for (let at = person; at !== root; ) {
      const next = this.#parents.get(at) ?? root;
      this.#parents.set(at, root);
      at = next;
    }
    return root;
  }

  has(person: string): boolean {
    return this.#parents.has(cutPersonOf(person)[0]);
  }

  persons(): Iterable<string> {
    return this.#parents.keys();
  }
}
