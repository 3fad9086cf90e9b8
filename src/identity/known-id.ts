import { getOrder } from '../state/bucket.ts';
import type { BucketLines } from '../state/facts/bucket-lines.ts';
import {
  type StoredActivity,
  type StoredId,
  type StoredMember,
  writeIdFields,
} from '../state/facts/fact-line.ts';
import { NO_PROPERTIES } from '../state/facts/snapshots.ts';
import type { UserTimes } from './merges/user-times.ts';
import { PersonProperties } from './person-properties.ts';

/** Users of one anonymous id that an order is made of; of one with more of them nobody knows whose it is. */
export const USERS_KEPT = 10_000;

/** All that is known under one id. */
export class KnownId {
  /** It is the user id of some record. */
  isUser = false;
  /** Users, with the first time both were seen together. */
  pairs: UserTimes | undefined;
  properties: PersonProperties | undefined;
  /** Of the records of a part: the persons of the vendor that it was seen with. */
  members: Member | undefined;
  /** Of stored facts, as all that follows. */
  active: StoredActivity | undefined;
  /** Pairs that follow from what the vendor says. */
  verdicts: UserTimes | undefined;
  /** The same, of an id whose own migrations are still to send their persons. */
  waitingVerdicts: UserTimes | undefined;
  /** The vendor's persons that it is of, and the user of each, as hashes. */
  placed: Map<string, string | undefined> | undefined;
  /** Earlier names under which it was seen with the users of `verdicts` and `waitingVerdicts`. */
  named: Set<string> | undefined;

  /** It has more users than are kept: which ones these are depends on the order in which facts were read. */
  get hasTooMany(): boolean {
    const { pairs, verdicts, waitingVerdicts } = this;
    return isTooMany(pairs) || isTooMany(verdicts) || isTooMany(waitingVerdicts);
  }

  /** Its properties, to be added to. */
  open(): PersonProperties {
    this.properties ??= new PersonProperties();
    return this.properties;
  }

  findMember(id: string, person: string | undefined, time: string): Member {
    if (!this.members) this.members = createMember(id, person, time);
    let member = this.members;
    while (member.person !== person) {
      member.next ??= createMember(id, person, time);
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
    return { kind: 'id', id, isUser, active, pairs: pairs ? sortPairs(pairs) : NO_PAIRS, properties };
  }

  /** Writes the line of what `takeStored` returns. */
  writeLine(id: string, lines: BucketLines): void {
    const { isUser, pairs, properties } = this;
    const active = this.#sumActivity();
    if (!isUser && !pairs && !active && properties?.isEmpty !== false) return;
    const out = lines.begin(getOrder(id));
    writeIdFields({ id, isUser, active, pairs: pairs ? sortPairs(pairs) : NO_PAIRS }, out);
    out.write('\t');
    if (properties) properties.write(out);
    else out.write(NO_PROPERTIES);
    lines.end();
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
      const own = listMonths(one.month, one.others);
      months = months.length === 0 ? own : toSorted(new Set([...months, ...own]));
      const beside = listMonths(one.besideMonth, one.othersBeside);
      if (beside.length > 0)
        besideUser = besideUser.length === 0 ? beside : toSorted(new Set([...besideUser, ...beside]));
      isUser ||= one.isUser;
    }
    return months.length + besideUser.length === 0 ? undefined : { isUser, months, besideUser };
  }
}

const NO_PAIRS: StoredId['pairs'] = [];

/** A vendor's person that an id was seen with; of several, a list. */
export interface Member {
  readonly id: string;
  readonly person: string | undefined;
  time: string;
  isUser: boolean;
  /** With events: the last one that was added, as most records are of it, and those before. */
  month: number;
  others: Set<number> | undefined;
  /** In which a record shows the id beside a user, in the same way. */
  besideMonth: number;
  othersBeside: Set<number> | undefined;
  next: Member | undefined;
  /** Another id of the person, once all are known. */
  sibling: Member | undefined;
}

const createMember = (id: string, person: string | undefined, time: string): Member => ({
  id,
  person,
  time,
  isUser: false,
  month: NO_MONTH,
  others: undefined,
  besideMonth: NO_MONTH,
  othersBeside: undefined,
  next: undefined,
  sibling: undefined,
});
export const NO_MONTH = -1;
const NO_MONTHS: readonly number[] = [];

export const toStoredMember = (member: Member): StoredMember => ({
  id: member.id,
  isUser: member.isUser,
  time: member.time,
  months: listMonths(member.month, member.others),
});

const listMonths = (month: number, others: ReadonlySet<number> | undefined): readonly number[] =>
  others ? toSorted(new Set([...others, month])) : month === NO_MONTH ? NO_MONTHS : [month];

const toSorted = (months: Iterable<number>): number[] => [...months].sort((a, b) => a - b);

const sortPairs = (pairs: UserTimes): StoredId['pairs'] =>
  pairs.size === 1 ? pairs.list() : pairs.list().sort(([a], [b]) => (a < b ? -1 : 1));

const isTooMany = (users: UserTimes | undefined): boolean => users !== undefined && users.size > USERS_KEPT;

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
