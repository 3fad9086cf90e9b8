import { isJunkId } from '../sources/mapping/identity.ts';
import { FactFold } from './fact-fold.ts';
import type { Unmerged } from './persons-tally.ts';

export interface Resolved {
  /** Accepted pairs as merges, and the facts about persons under their final ids. */
  readonly facts: FactFold;
  readonly unmerged: readonly Unmerged[];
}

/**
 * Decides which identities belong together, from all facts known under the ids of `known`: an anonymous id
 * that was seen with exactly one user, and never as a user id itself, is merged into that user. Every other
 * pair stays unmerged, because a wrong merge cannot be undone. Chains cannot arise: the user id of one pair
 * is never accepted as the anonymous id of another.
 */
export function resolvePersons(known: FactFold): Resolved {
  const facts = new FactFold();
  const unmerged: Unmerged[] = [];
  const userByAnonId = new Map<string, string>();
  const junk = new Set<string>();

  for (const [anonId, users] of known.pairs) {
    const decision = decide(anonId, users, known.users.has(anonId));
    unmerged.push(...decision.unmerged);
    if (isJunkId(anonId)) junk.add(anonId);
    if (decision.user !== undefined) {
      userByAnonId.set(anonId, decision.user.id);
      facts.addStored({ kind: 'merge', userId: decision.user.id, anonId, time: decision.user.time });
    }
  }

  for (const fact of known.stored()) {
    if (fact.kind === 'person' && isJunkId(fact.id)) {
      // Many visitors share such an id: their properties folded together would describe nobody.
      if (!junk.has(fact.id)) unmerged.push({ reason: 'junk_id', id: fact.id });
    } else if (fact.kind === 'person') {
      facts.addStored({ ...fact, id: userByAnonId.get(fact.id) ?? fact.id });
    } else if (fact.kind === 'group') {
      facts.addStored(fact);
    }
  }
  return { facts, unmerged };
}

interface Decision {
  readonly user?: { readonly id: string; readonly time: string };
  readonly unmerged: readonly Unmerged[];
}

function decide(anonId: string, users: ReadonlyMap<string, string>, isUser: boolean): Decision {
  const all = [...users];
  if (isJunkId(anonId)) return { unmerged: [toUnmerged('junk_id', anonId, all)] };

  const real = all.filter(([id]) => !isJunkId(id));
  const junk = all.filter(([id]) => isJunkId(id));
  const unmerged = junk.length > 0 ? [toUnmerged('junk_id', anonId, junk)] : [];
  const first = real[0];
  if (!first) return { unmerged };
  if (isUser) return { unmerged: [...unmerged, toUnmerged('already_identified', anonId, real)] };
  if (real.length > 1) return { unmerged: [...unmerged, toUnmerged('shared_device', anonId, real)] };
  return { user: { id: first[0], time: first[1] }, unmerged };
}

const USERS_SHOWN = 5;

function toUnmerged(
  reason: Unmerged['reason'],
  id: string,
  users: readonly (readonly [string, string])[],
): Unmerged {
  const earliestFirst = users.map(([user, time]) => `${time} ${user}`).sort();
  return {
    reason,
    id,
    users: earliestFirst.slice(0, USERS_SHOWN).map((text) => text.slice(text.indexOf(' ') + 1)),
    userCount: users.length,
  };
}
