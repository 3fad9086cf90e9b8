import { STATEMENT_BUCKETS, type StoredFact } from '../../state/facts/fact-line.ts';
import { FACTS, type FoldKind, loadFolds } from '../load-folds.ts';
import { addUnmerged, type PersonsTally } from '../persons-tally.ts';
import type { Context } from './context.ts';
import type { JoinedPersons } from './link-fold.ts';

/** By id, those that it was renamed to, with the first time of each. */
export type Candidates = Map<string, Map<string, string>>;

type Reading = Pick<Context, 'staging' | 'signal' | 'pace' | 'limits' | 'kept'>;
type Facts = ReturnType<Context['listFacts']>;

/** Adds persons that the vendor joined. Beyond the limit, those that come last in the order of their hashes stay apart. */
export async function addJoined(
  joined: JoinedPersons,
  from: Facts,
  reading: Reading,
  people: PersonsTally,
): Promise<void> {
  for await (const facts of loadStatements(from, reading))
    for (const fact of facts) {
      if (fact.kind !== 'join') continue;
      if (joined.size < reading.kept.joined) joined.join(fact.person, fact.into);
      else addUnmerged(people, { reason: 'over_limit', id: fact.person });
    }
}

/** All that ids were renamed to, a bounded number of ids at a time. */
export async function* loadCandidates(context: Context): AsyncGenerator<Candidates> {
  let candidates: Candidates = new Map();
  for await (const facts of loadStatements(context.listFacts(), context)) {
    for (const fact of facts) {
      if (fact.kind !== 'rename') continue;
      const known = candidates.get(fact.from) ?? new Map<string, string>();
      const first = known.get(fact.to);
      if (first === undefined || fact.time < first) known.set(fact.to, fact.time);
      candidates.set(fact.from, known);
    }
    if (candidates.size < context.kept.candidates) continue;
    yield candidates;
    candidates = new Map();
  }
  if (candidates.size > 0) yield candidates;
}

/** Ids that have another one by now, as some migration says whose facts are still there; some more than once. */
export async function* loadRenamed(context: Context): AsyncGenerator<string> {
  for (const from of [context.listFacts(), context.listKnown()])
    for await (const facts of loadStatements(from, context))
      for (const fact of facts) if (fact.kind === 'rename') yield fact.from;
}

const STATEMENT_BYTES = 300;

const STATEMENTS: FoldKind<StoredFact, StoredFact[]> = {
  parse: FACTS.parse,
  getOrder: FACTS.getOrder,
  create: () => [],
  add: (fold, fact) => void fold.push(fact),
  list: (fold) => fold,
  getWeight: (fold) => fold.length * STATEMENT_BYTES,
  getSize: (fold) => fold.length,
};

/** All about one id is in one list. What is dropped must not depend on the order of parts, so they are sorted. */
async function* loadStatements(
  facts: Facts,
  { staging, signal, pace, limits }: Reading,
): AsyncGenerator<readonly StoredFact[]> {
  const source = { staging, facts, range: STATEMENT_BUCKETS, signal, limits, pace };
  for await (const { fold } of loadFolds(STATEMENTS, source)) {
    yield fold.sort((a, b) => FACTS.getOrder(a) - FACTS.getOrder(b));
    if (pace.isDue()) await pace.rest();
  }
}
