import { z } from 'zod';
import { factsIndex } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { mergePersonsTally, personsTally } from '../../identity/persons-tally.ts';
import { addSentRanges, emptySentRange, type SentRange, sentRange } from '../../identity/sent-range.ts';
import { listDocuments, loadDocument } from '../../state/document.ts';
import { ledgerLayout } from '../../state/keys/ledger.ts';
import { layout } from '../../state/keys/migration.ts';
import { parseTurnKey } from '../../state/keys/turn.ts';
import { listEndedEpochs, listEndedTurns, listReleases, loadTurnPlan } from './turn.ts';

/** What a migration sent about persons and groups, over all of its turns. */
export interface SentPersons {
  readonly sent: SentRange;
  /** They were held back, and nobody has released them. */
  readonly isHeld: boolean;
  /** Names of the migrations that sent what this one held, with commas between. */
  readonly releasedBy: string | undefined;
  /** Objects that said what a turn came to, and are gone: what was sent in it is not among `sent`. */
  readonly lost: readonly string[];
}

/** What version 0.1.0 kept of a range of buckets that it resolved. */
const earlierResolved = z.strictObject({ findings: z.array(factsIndex), people: personsTally });

export async function loadPersons(staging: Staging, name: string): Promise<SentPersons> {
  let sum = emptySentRange();
  let heldAt = 0;
  let turns = 0;
  for (const { turn, purpose, result } of await listEndedTurns(staging, name)) {
    turns += 1;
    heldAt = purpose === 'note' ? turn : 0;
    // Every turn decides about all facts: of what stays unmerged the last one counts.
    const { setAside: _, setAsideSample: __, mergedBefore: ___, uniques: ____, ...people } = sum.people;
    const before = { ...sum, people: { ...emptySentRange().people, ...people } };
    sum = addSentRanges(before, result);
  }
  const lost = await listLost(staging, name);
  if (turns === 0 && lost.length === 0) sum = await loadEarlier(staging, name);
  const releases = (await listReleases(staging, name)).filter((one) => one !== undefined);
  const releasedBy = [...new Set(releases.map(({ by }) => by))].join(', ');
  const isHeld = heldAt > (releases.at(-1)?.turn ?? 0);
  return { sent: sum, isHeld, releasedBy: releasedBy === '' ? undefined : releasedBy, lost };
}

/** A ledger knows that a turn ended only after what it came to was written. */
async function listLost(staging: Staging, name: string): Promise<string[]> {
  const keys = layout(name);
  const ended = await listEndedEpochs(staging, name);
  const lost: string[] = [];
  for await (const { key } of staging.list(keys.turns)) {
    const turn = parseTurnKey(key);
    if (turn === undefined || ended.has(turn)) continue;
    const plan = await loadTurnPlan(staging, name, turn);
    if (plan && (await staging.get(ledgerLayout(plan.ledger).endedTurn(turn))))
      lost.push(keys.endedTurnOf(turn));
  }
  return lost;
}

async function loadEarlier(staging: Staging, name: string): Promise<SentRange> {
  const keys = layout(name);
  let sum = emptySentRange();
  for await (const folded of listDocuments(staging, keys.folded, (key) =>
    loadDocument(sentRange, key, staging),
  ))
    sum = addSentRanges(sum, folded);
  let { people } = sum;
  for await (const resolved of listDocuments(staging, keys.resolved, (key) =>
    loadDocument(earlierResolved, key, staging),
  ))
    people = mergePersonsTally(people, resolved.people);
  return { ...sum, people };
}
