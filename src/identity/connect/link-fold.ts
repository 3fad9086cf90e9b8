import { cutPersonOf } from '../../contract/identity-fact.ts';
import type { StoredFact, StoredMember } from '../../state/facts/fact-line.ts';
import { joinMonths } from '../known-id.ts';
import { NO_ONE } from '../merges/find-users.ts';
import { UserTimes } from '../merges/user-times.ts';
import type { UserSeen } from '../merges/users-seen.ts';

/** Users of one person of a vendor that are kept: with the second one, none is merged. */
const USERS_KEPT = 10_000;
/** A map entry with its short strings. */
const ENTRY_BYTES = 150;

/** Ids of one person of a vendor, with the time at which each was first seen. */
export interface VendorPerson {
  users: UserTimes | undefined;
  others: UserTimes | undefined;
  /** As migrations say that are still to send their persons; an id may be among the others as well. */
  waiting: UserTimes | undefined;
  /** With events. */
  months: readonly number[];
  /** Facts at hand speak of it, and not only those of other migrations. */
  isOwn: boolean;
}

type LinkOf = Pick<Link, 'isKnown' | 'isWaiting'> & { readonly person: string };

/** `isKnown`: by another migration. `isWaiting`: which is still to send its persons. */
export type Link = StoredFact & { readonly isKnown?: boolean; readonly isWaiting?: boolean };

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
      person = { users: undefined, others: undefined, waiting: undefined, months: NO_MONTHS, isOwn: false };
      this.persons.set(fact.person, person);
      this.#weight += 2 * ENTRY_BYTES;
    }
    if (!fact.isKnown) {
      person.isOwn = true;
      person.months = joinMonths(person.months, member.months);
    }
    const kind = member.isUser ? 'users' : fact.isWaiting ? 'waiting' : 'others';
    const { id, time } = member;
    const known = person[kind];
    if (!known) person[kind] = new UserTimes(id, time);
    else if (member.isUser && known.size >= USERS_KEPT && !known.has(id)) return;
    else if (!known.add(id, time)) return;
    this.#weight += ENTRY_BYTES;
  }

  *list(): Generator<Link> {
    for (const [person, { users, others, waiting, months, isOwn }] of this.persons) {
      // Months are of the person; which of its ids they are of is not asked any more.
      const of = { kind: 'member', person, months, isKnown: !isOwn } as const;
      for (const [id, time] of listIds(users)) yield { ...of, id, isUser: true, time };
      for (const [id, time] of listIds(others)) yield { ...of, id, isUser: false, time };
      for (const [id, time] of listIds(waiting))
        yield { ...of, id, isUser: false, time, isKnown: true, isWaiting: true };
    }
  }
}

export const listIds = (ids: UserTimes | undefined): readonly UserSeen[] => ids?.list() ?? NO_ONE;

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
