import type { Staging } from '../../contract/staging.ts';
import { connected } from '../../identity/connect/connect-persons.ts';
import { mergePersonsTally } from '../../identity/persons-tally.ts';
import { resolvedRange } from '../../identity/resolve-buckets.ts';
import { addSentRanges, emptySentRange, type SentRange } from '../../identity/sent-range.ts';
import { listDocuments, loadDocument } from '../../state/document.ts';
import { SEND_STEPS, type TurnKeys } from '../../state/keys/turn.ts';
import { type Attempts, listSentRanges } from './attempts.ts';

/** What stayed unmerged when ids were resolved, and what was sent. */
export async function addUpTurn(staging: Staging, keys: TurnKeys, attempts: Attempts): Promise<SentRange> {
  let sum = emptySentRange();
  for (const step of SEND_STEPS) {
    for await (const sent of listSentRanges(staging, keys, step, attempts)) sum = addSentRanges(sum, sent);
  }
  let { people } = sum;
  for await (const resolved of listDocuments(staging, keys.resolved, (key) =>
    loadDocument(resolvedRange, key, staging),
  ))
    people = mergePersonsTally(people, resolved.people);
  for await (const one of listDocuments(staging, keys.connected, (key) =>
    loadDocument(connected, key, staging),
  ))
    people = mergePersonsTally(people, one.people);
  return { ...sum, people };
}
