import type { Staging } from '../../contract/staging.ts';
import { connected } from '../../identity/connect/connect-persons.ts';
import { mergePersonsTally } from '../../identity/persons-tally.ts';
import { resolvedRange } from '../../identity/resolve-buckets.ts';
import { addSentRanges, emptySentRange, type SentRange } from '../../identity/sent-range.ts';
import { SEND_STEPS, type TurnKeys } from '../../state/keys.ts';
import { type Attempts, listSentRanges } from './attempts.ts';
import { listDocuments } from './list-documents.ts';

/** What stayed unmerged when ids were resolved, and what was sent. */
export async function addUpTurn(staging: Staging, keys: TurnKeys, attempts: Attempts): Promise<SentRange> {
  let sum = emptySentRange();
  for (const step of SEND_STEPS) {
    for await (const sent of listSentRanges(staging, keys, step, attempts)) sum = addSentRanges(sum, sent);
  }
  let { people } = sum;
  for await (const resolved of listDocuments(resolvedRange, staging, keys.resolved))
    people = mergePersonsTally(people, resolved.people);
  for await (const one of listDocuments(connected, staging, keys.connected))
    people = mergePersonsTally(people, one.people);
  return { ...sum, people };
}
