import type { StoredActivity, StoredId, StoredMember } from '../state/facts/fact-line.ts';
import { NO_PROPERTIES } from '../state/facts/snapshots.ts';
import { PersonProperties } from './person-properties.ts';

/** All that is known under one id. */
export class KnownId {
  /** It is the user id of some record. */
  isUser = false;
  /** Users, with the first time both were seen together. */
  pairs: Map<string, string> | undefined;
  properties: PersonProperties | undefined;
  /** Of the records of a part: the persons of the vendor that it was seen with. */
  members: Member | undefined;
  /** Of stored facts, as all that follows. */
  active: StoredActivity | undefined;
  /** Pairs that follow from what the vendor says. */
  verdicts: Map<string, string> | undefined;
  /** The same, of an id whose own migrations are still to send their persons. */
  waitingVerdicts: Map<string, string> | undefined;
  /** The vendor's persons that it is of, and the user of each, as hashes. */
  placed: Map<string, string | undefined> | undefined;
  /** Earlier names under which it was seen with the users of `verdicts` and `waitingVerdicts`. */
  named: Set<string> | undefined;

  /** Its properties, to be added to. */
  open(): PersonProperties {
    this.properties ??= new PersonProperties();
    return this.properties;
  }

  findMember(person: string | undefined, time: string): Member {
    if (!this.members) this.members = createMember(person, time);
    let member = this.members;
    while (member.person !== person) {
      member.next ??= createMember(person, time);
      member = member.next;
    }
    return member;
  }

  addActive(more: StoredActivity): void {
    const { active } = this;
    this.active = active
      ? {
          isUser: active.isUser || more.isUser,
          months: joinMonths(active.months, more.months),
          besideUser: joinMonths(active.besideUser, more.besideUser),
        }
      : more;
  }

  /** What is stored under the id itself. Properties leave with it: of all ids together they are large. */
  takeStored(id: string): StoredId | undefined {
    const { isUser, pairs } = this;
    const active = this.#sumActivity();
    const properties = this.properties?.isEmpty === false ? this.properties.text : NO_PROPERTIES;
    this.properties = undefined;
    if (!isUser && !pairs && !active && properties === NO_PROPERTIES) return undefined;
    return { kind: 'id', id, isUser, active, pairs: pairs ? listPairs(pairs) : [], properties };
  }

  /** Of which of the vendor's persons it is a member. */
  eachMember(id: string, visit: (person: string, member: StoredMember) => void): void {
    for (let one = this.members; one; one = one.next) {
      const { person, isUser, time } = one;
      if (person !== undefined) visit(person, { id, isUser, time, months: listMonths(one) });
    }
  }

  #sumActivity(): StoredActivity | undefined {
    const { active } = this;
    if (active)
      return {
        isUser: active.isUser,
        months: toSorted(active.months),
        besideUser: toSorted(active.besideUser),
      };
    let isUser = false;
    let months = NO_MONTHS;
    let besideUser = NO_MONTHS;
    for (let one = this.members; one; one = one.next) {
      const own = listMonths(one);
      months = months.length === 0 ? own : toSorted(new Set([...months, ...own]));
      if (one.besideUser) besideUser = toSorted(new Set([...besideUser, ...one.besideUser]));
      isUser ||= one.isUser;
    }
    return months.length + besideUser.length === 0 ? undefined : { isUser, months, besideUser };
  }
}

/** A vendor's person that an id was seen with; of several, a list. */
export interface Member {
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
export const NO_MONTH = -1;
const NO_MONTHS: readonly number[] = [];

const listMonths = ({ month, others }: Member): readonly number[] =>
  others ? toSorted(new Set([...others, month])) : month === NO_MONTH ? NO_MONTHS : [month];

const toSorted = (months: Iterable<number>): number[] => [...months].sort((a, b) => a - b);

const listPairs = (pairs: ReadonlyMap<string, string>): StoredId['pairs'] =>
  pairs.size === 1 ? [...pairs] : [...pairs].sort(([a], [b]) => (a < b ? -1 : 1));

/** Those of both lists, each once. Most ids have one month: then the list is the one that is known. */
export function joinMonths(known: readonly number[], more: readonly number[]): readonly number[] {
  if (known.length === 0) return more;
  let all: number[] | undefined;
  for (const month of more) {
    if ((all ?? known).includes(month)) continue;
    all ??= [...known];
    all.push(month);
  }
  return all ?? known;
}
