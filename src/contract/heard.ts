import type { IdentityFact, JoinFact, PairFact, Seen } from './identity-fact.ts';

/**
 * What a record says about who is who although its facts do not count: it is rejected, or left out without a time that
 * can be read. Devices and users are only kept apart by it, because what the record says once it is replayed may be
 * another thing. That two of the vendor's persons are one has no time that matters, so it counts in full.
 */
export interface Heard {
  readonly userIds: readonly string[];
  /** Of HEARD_TIME. */
  readonly facts: readonly (PairFact | JoinFact)[];
  /** Of HEARD_TIME, each with a person of the vendor's. */
  readonly seen: readonly Seen[];
}

/** After every time that is read, so that a fact which says the same with its time counts instead. */
export const HEARD_TIME = '9999-12-31T23:59:59.999Z';

interface Said {
  readonly facts?: readonly IdentityFact[];
  readonly userId?: string | undefined;
  readonly otherUserIds?: readonly string[];
  readonly seen?: Seen | undefined;
  readonly heard?: Heard | undefined;
}

/** What is left of facts that do not count; undefined where they name nobody. */
export function toHeard({ facts = [], userId, otherUserIds = [], seen, heard }: Said): Heard | undefined {
  const pairs = facts.flatMap((fact) =>
    fact.kind === 'pair' || fact.kind === 'join' ? [{ ...fact, time: HEARD_TIME }] : [],
  );
  const userIds = userId === undefined ? otherUserIds : [userId, ...otherUserIds];
  const members = seen?.person === undefined ? [] : [toMember(seen)];
  const own = { userIds, facts: pairs, seen: members };
  return pairs.length + userIds.length + members.length === 0 ? heard : joinTwo(heard, own);
}

const toMember = ({ person, id, isUser }: Seen): Seen => ({ person, id, isUser, time: HEARD_TIME });

/** What several rows of a record say together. */
export const joinHeard = (all: readonly (Heard | undefined)[]): Heard | undefined =>
  all.reduce((heard, one) => (one ? joinTwo(heard, one) : heard), undefined);

const joinTwo = (a: Heard | undefined, b: Heard): Heard =>
  a
    ? {
        userIds: [...a.userIds, ...b.userIds],
        facts: [...a.facts, ...b.facts],
        seen: [...a.seen, ...b.seen],
      }
    : b;
