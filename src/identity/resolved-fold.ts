import type { ResolvedFact } from '../state/facts/resolved-facts.ts';
import { joinMonths } from './known-id.ts';
import { PersonProperties } from './person-properties.ts';

/** All that is known of one person, whatever its ids. */
export interface ResolvedPerson {
  id: string;
  isAlias: boolean;
  readonly properties: PersonProperties;
}

export interface ResolvedGroup {
  readonly groupType: string;
  readonly groupKey: string;
  /** The latest. */
  time: string;
  /** All of them are set. */
  readonly properties: PersonProperties;
}

/** Folds facts under their final ids; associative, commutative and idempotent as FactFold is. */
export class ResolvedFold {
  /** By `of`, as groups are. */
  readonly persons = new Map<string, ResolvedPerson>();
  readonly groups = new Map<string, ResolvedGroup>();
  /** By `of`, and by key; that without a key is below undefined. See the fact of this kind. */
  readonly floors = new Map<string, Map<string | undefined, number>>();
  /** Months with events, by `of`. */
  readonly active = new Map<string, readonly number[]>();
  #weight = 0;

  get size(): number {
    return this.persons.size + this.groups.size + this.floors.size + this.active.size;
  }

  /** Estimated memory, in bytes. */
  get weight(): number {
    return this.#weight;
  }

  add(fact: ResolvedFact): void {
    if (fact.kind === 'person') {
      this.#weight += this.#person(fact).properties.addText(fact.properties);
      if (fact.months) this.#addActive(fact.of, fact.months);
    } else if (fact.kind === 'active') this.#addActive(fact.of, fact.months);
    else if (fact.kind === 'floor') {
      const floors = this.floors.get(fact.of) ?? new Map<string | undefined, number>();
      this.floors.set(fact.of, floors);
      const known = floors.get(fact.key);
      if (known === undefined) this.#weight += SUBJECT_BYTES;
      floors.set(fact.key, Math.max(fact.timeMs, known ?? fact.timeMs));
    } else {
      this.#weight += this.#group(fact).properties.addText(fact.properties);
    }
  }

  /** All facts, in no particular order. */
  *facts(): Generator<ResolvedFact> {
    for (const [of, months] of this.active) if (!this.persons.has(of)) yield { kind: 'active', of, months };
    for (const [of, floors] of this.floors) {
      for (const [key, timeMs] of floors)
        yield { kind: 'floor', of, timeMs, ...(key === undefined ? {} : { key }) };
    }
    for (const [of, { id, isAlias, properties }] of this.persons) {
      yield { kind: 'person', of, id, isAlias, months: this.active.get(of), properties: properties.text };
    }
    for (const [of, { groupType, groupKey, time, properties }] of this.groups) {
      yield { kind: 'group', of, groupType, groupKey, time, properties: properties.text };
    }
  }

  #addActive(of: string, months: readonly number[]): void {
    const known = this.active.get(of);
    if (!known) this.#weight += SUBJECT_BYTES;
    this.active.set(of, known ? joinMonths(known, months) : months);
  }

  #person({ of, id, isAlias }: Extract<ResolvedFact, { kind: 'person' }>): ResolvedPerson {
    const known = this.persons.get(of);
    if (!known) {
      const person = { id, isAlias, properties: new PersonProperties() };
      this.persons.set(of, person);
      this.#weight += SUBJECT_BYTES;
      return person;
    }
    // The person's own id goes before those that were merged into it.
    if (known.isAlias && (!isAlias || id < known.id)) {
      known.id = id;
      known.isAlias = isAlias;
    }
    return known;
  }

  #group({ of, groupType, groupKey, time }: Extract<ResolvedFact, { kind: 'group' }>): ResolvedGroup {
    let group = this.groups.get(of);
    if (!group) {
      group = { groupType, groupKey, time, properties: new PersonProperties() };
      this.groups.set(of, group);
      this.#weight += SUBJECT_BYTES;
    }
    if (time > group.time) group.time = time;
    return group;
  }
}

const SUBJECT_BYTES = 300;
