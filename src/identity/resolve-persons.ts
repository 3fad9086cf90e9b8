import { isJunkId } from '../sources/mapping/identity.ts';
import { FactFold } from './fact-fold.ts';
import type { Unmerged } from './persons-tally.ts';

export interface Resolved {
  /** Accepted pairs as merges, and everything known of persons under the id they end up with. */
  readonly findings: FactFold;
  readonly setAside: readonly Unmerged[];
}

/**
 * Decides which identities belong together, from everything known under the ids of `known`: an
 * anonymous id that was seen with exactly one user, and never as a user itself, becomes that user.
 * Everything else that looks like a pair is set aside, for a wrong merge cannot be undone. No chain
 * can arise: whoever is a user in one pair is accepted as anonymous in none.
 */
export function resolvePersons(known: FactFold): Resolved {
  const findings = new FactFold();
  const setAside: Unmerged[] = [];
  const getUser = new Map<string, string>();
  const junk = new Set<string>();

  for (const [anonId, users] of known.pairs) {
    const verdict = judge(anonId, users, known.users.has(anonId));
    setAside.push(...verdict.setAside);
    if (isJunkId(anonId)) junk.add(anonId);
    if (verdict.user !== undefined) {
      getUser.set(anonId, verdict.user.id);
      findings.addStored({ kind: 'merge', userId: verdict.user.id, anonId, time: verdict.user.time });
    }
  }

  for (const finding of known.stored()) {
    if (finding.kind === 'person' && isJunkId(finding.id)) {
      // Many visitors share such an id: their properties folded together describe nobody.
      if (!junk.has(finding.id)) setAside.push({ reason: 'junk_id', id: finding.id });
    } else if (finding.kind === 'person') {
      findings.addStored({ ...finding, id: getUser.get(finding.id) ?? finding.id });
    } else if (finding.kind === 'group') {
      findings.addStored(finding);
    }
  }
  return { findings, setAside };
}

interface Verdict {
  readonly user?: { readonly id: string; readonly time: string };
  readonly setAside: readonly Unmerged[];
}

function judge(anonId: string, users: ReadonlyMap<string, string>, isUser: boolean): Verdict {
  const all = [...users];
  if (isJunkId(anonId)) return { setAside: [aside('junk_id', anonId, all)] };

  const real = all.filter(([id]) => !isJunkId(id));
  const junk = all.filter(([id]) => isJunkId(id));
  const setAside = junk.length > 0 ? [aside('junk_id', anonId, junk)] : [];
  const first = real[0];
  if (!first) return { setAside };
  if (isUser) return { setAside: [...setAside, aside('already_identified', anonId, real)] };
  if (real.length > 1) return { setAside: [...setAside, aside('shared_device', anonId, real)] };
  return { user: { id: first[0], time: first[1] }, setAside };
}

const USERS_SHOWN = 5;

function aside(
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
