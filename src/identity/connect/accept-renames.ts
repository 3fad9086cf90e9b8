import { isHeardTime } from '../../contract/heard-time.ts';
import { isJunkId } from '../../sources/mapping/identity.ts';
import { getBucket, getOrder } from '../../state/bucket.ts';
import type { StoredFact } from '../../state/facts/fact-line.ts';
import { NO_PROPERTIES } from '../../state/facts/snapshots.ts';
import type { FactFold } from '../fact-fold.ts';
import { FACTS, type FoldKind, loadFolds } from '../load-folds.ts';
import { areAllNames } from '../merges/earlier-names.ts';
import { readIdEntry } from '../merges/id-entry.ts';
import { mayRename } from '../merges/merge-decision.ts';
import { addUnmerged, type PersonsTally } from '../persons-tally.ts';
import type { Context } from './context.ts';
import { type Candidates, loadCandidates } from './statements.ts';

/** Users by their earlier ids: the last one, and since when. */
export type Accepted = Map<string, { to: string; time: string }>;

/**
 * An id that is no user is merged as any other; a user is renamed where nothing else is known of it than that one
 * new id, and where nothing can have been merged into it before. Of a chain of names the last one counts; a circle
 * names nobody, and neither does a chain through a name that is only heard.
 */
export async function acceptRenames(context: Context, people: PersonsTally): Promise<Accepted> {
  const accepted: Accepted = new Map();
  const { ledger, tables } = context;
  if (ledger.isForgotten) return accepted;
  for await (const candidates of loadCandidates(context))
    await addRenames(candidates, accepted, context, people);
  const ids = [...accepted].flatMap(([from, { to }]) => [from, to]);
  const open = await tables.load(new Set(ids.map(getBucket)));
  const read = (hash: Buffer) => {
    const table = open.get(hash[0] ?? 0);
    return table && readIdEntry(table, hash);
  };
  // A refused one ends the chains through it, so those before it are decided again.
  for (;;) {
    const roots = findRoots(accepted);
    const refused = [...accepted.keys()].filter((from) => {
      const root = roots.get(from);
      if (root === undefined) return true;
      if (ledger.purpose === 'take_in') return false;
      const hash = ledger.hash.id(from);
      const table = open.get(hash[0] ?? 0);
      // With a name that others know of this one, they may make a circle.
      if (!table || read(ledger.hash.id(root))?.user !== undefined) return table !== undefined;
      const next = accepted.get(from)?.to;
      const names = next === undefined || next === root ? [] : [ledger.hash.id(next).toString('hex')];
      const areAllNamed = areAllNames(new Set(names), { id: hash, hash: ledger.hash, table });
      return !mayRename(readIdEntry(table, hash), ledger.hash.id(root), areAllNamed);
    });
    for (const from of refused) accepted.delete(from);
    if (refused.length > 0) continue;
    for (const [from, one] of accepted) one.to = roots.get(from) ?? one.to;
    return accepted;
  }
}

async function addRenames(
  candidates: Candidates,
  accepted: Accepted,
  context: Context,
  people: PersonsTally,
): Promise<void> {
  const { kept, pace } = context;
  for await (const { ids } of loadOwn(candidates, context)) {
    for (const [from, { isUser, pairs }] of ids) {
      const targets = isUser ? candidates.get(from) : undefined;
      if (!targets || isJunkId(from)) continue;
      const others = [...(pairs?.map.keys() ?? [])].filter((id) => !isJunkId(id));
      const [to] = targets.keys();
      const time = to === undefined ? undefined : targets.get(to);
      if (to === undefined || time === undefined || targets.size > 1 || to === from) continue;
      if (isJunkId(to) || others.some((id) => id !== to)) continue;
      if (accepted.size < kept.renamed) accepted.set(from, { to, time });
      else addUnmerged(people, { reason: 'over_limit', id: from, users: [to] });
      if (pace.isDue()) await pace.rest();
    }
  }
}

/** The last name of each; none of those in a circle, with a name that is only heard, or that lead to one of these. */
function findRoots(accepted: Accepted): ReadonlyMap<string, string> {
  const roots = new Map<string, string | undefined>();
  for (const from of accepted.keys()) {
    const path: string[] = [];
    const onPath = new Set<string>();
    let at = from;
    let root: string | undefined;
    for (;;) {
      if (roots.has(at)) {
        root = roots.get(at);
        break;
      }
      if (onPath.has(at)) break;
      const next = accepted.get(at);
      if (next && isHeardTime(next.time)) break;
      if (!next) {
        root = at;
        break;
      }
      onPath.add(at);
      path.push(at);
      at = next.to;
    }
    for (const id of path) roots.set(id, root);
  }
  return new Map([...roots].filter((one): one is [string, string] => one[1] !== undefined));
}

/** What is known under the ids of the candidates themselves; lines of others are passed over unread. */
async function* loadOwn(candidates: Candidates, context: Context): AsyncGenerator<FactFold> {
  const { staging, signal, pace, limits, idRanges, listFacts } = context;
  const orders = new Set([...candidates.keys()].map(getOrder));
  const kind: FoldKind<StoredFact, FactFold> = {
    ...FACTS,
    isWanted: (order) => orders.has(order),
    add: (fold, fact) => {
      if (fact.kind === 'pair' || fact.kind === 'user') fold.addStored(fact);
      else if (fact.kind === 'id') fold.addStored({ ...fact, active: undefined, properties: NO_PROPERTIES });
    },
  };
  const buckets = new Set([...candidates.keys()].map(getBucket));
  async function* wantedSections() {
    for await (const index of listFacts())
      yield { ...index, sections: index.sections.filter(({ bucket }) => buckets.has(bucket)) };
  }
  for (const range of idRanges)
    for await (const { fold } of loadFolds(kind, {
      staging,
      facts: wantedSections(),
      range,
      signal,
      limits,
      pace,
    }))
      yield fold;
}
