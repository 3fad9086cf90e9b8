import type { Staging } from '../../contract/staging.ts';
import { mergePersonsTally } from '../../identity/persons-tally.ts';
import { resolvedRange } from '../../identity/resolve-buckets.ts';
import { addSentRanges, emptySentRange, type SentRange, sentRange } from '../../identity/sent-range.ts';
import { layout } from '../../state/keys.ts';
import { listDocuments } from './list-documents.ts';

/** What stayed unmerged when ids were resolved, and what was sent. */
export async function addUpTurn(staging: Staging, name: string, turn: number): Promise<SentRange> {
  const keys = layout(name).atTurn(turn);
  let sum = emptySentRange();
  for (const folder of [keys.merged, keys.folded]) {
    for await (const sent of listDocuments(sentRange, staging, folder)) sum = addSentRanges(sum, sent);
  }
  let { people } = sum;
  for await (const resolved of listDocuments(resolvedRange, staging, keys.resolved))
    people = mergePersonsTally(people, resolved.people);
  return { ...sum, people };
}
