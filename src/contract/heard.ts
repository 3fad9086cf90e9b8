import { HEARD_TIME, toHeardTime } from './heard-time.ts';
import type { IdentityFact, JoinFact, PairFact, RenameFact, Seen } from './identity-fact.ts';

/**
 * What a record says about who is who although its facts do not count: it is rejected, or left out: without a time
 * that can be read, or for its time. Devices and users are only kept apart by it, because what the record says once it is replayed may be
 * another thing; a user is renamed by nothing that is heard, and by no name that what is heard contradicts. That two of
 * the vendor's persons are one has no time that matters, so it counts in full.
 */
export interface Heard {
  readonly userIds: readonly string[];
  /** Of a time that says so. */
  readonly facts: readonly (PairFact | JoinFact | RenameFact)[];
  /** Of such a time, each with a person of the vendor's. */
  readonly seen: readonly Seen[];
}

interface Said {
  readonly facts?: readonly IdentityFact[];
  readonly userId?: string | undefined;
  readonly otherUserIds?: readonly string[];
  readonly seen?: Seen | undefined;
  readonly heard?: Heard | undefined;
}

/** What is left of facts that do not count, and whose times may be wrong; undefined where they name nobody. */
export const toHeard = (said: Said): Heard | undefined => toHeardWith(said, forgetTime);

/** The same of facts that do not count for their time. */
export const toHeardAtTime = (said: Said): Heard | undefined => toHeardWith(said, toHeardTime);

const forgetTime = () => HEARD_TIME;

function toHeardWith(
  { facts = [], userId, otherUserIds = [], seen, heard }: Said,
  toTime: (time: string) => string,
): Heard | undefined {
  const pairs: (PairFact | JoinFact | RenameFact)[] = [];
  for (const fact of facts) {
    const { kind } = fact;
    if (kind === 'pair') pairs.push({ ...fact, time: toTime(fact.time) });
    else if (kind === 'join' || kind === 'rename') pairs.push({ ...fact, time: HEARD_TIME });
  }
  const userIds = userId === undefined ? otherUserIds : [userId, ...otherUserIds];
  const members = seen?.person === undefined ? [] : [toMember(seen, toTime)];
  const own = { userIds, facts: pairs, seen: members };
  return pairs.length + userIds.length + members.length === 0 ? heard : joinTwo(heard, own);
}

const toMember = ({ person, id, isUser, time }: Seen, toTime: (time: string) => string): Seen => ({
  ...{ person, id, isUser },
  time: toTime(time),
});

/** What several rows of a record say together, each thing once: there may be a million rows. */
export function joinHeard(all: Iterable<Heard | undefined>): Heard | undefined {
  const userIds = new Set<string>();
  const facts = new Map<string, Heard['facts'][number]>();
  const seen = new Map<string, Seen>();
  let saysAnything = false;
  for (const one of all) {
    if (!one) continue;
    saysAnything = true;
    for (const userId of one.userIds) userIds.add(userId);
    for (const fact of one.facts) facts.set(JSON.stringify(fact), fact);
    for (const member of one.seen) seen.set(JSON.stringify(member), member);
  }
  return saysAnything
    ? { userIds: [...userIds], facts: [...facts.values()], seen: [...seen.values()] }
    : undefined;
}

const joinTwo = (a: Heard | undefined, b: Heard): Heard =>
  a
    ? {
        userIds: [...a.userIds, ...b.userIds],
        facts: [...a.facts, ...b.facts],
        seen: [...a.seen, ...b.seen],
      }
    : b;
