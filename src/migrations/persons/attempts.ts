import type { Staging } from '../../contract/staging.ts';
import type { BucketRange } from '../../identity/load-folds.ts';
import { countRefused, type SentRange, sentRange } from '../../identity/sent-range.ts';
import { encodeDocument, loadDocument } from '../../state/document.ts';
import {
  parseRangeKey,
  SEND_STEPS,
  type SendStep,
  type TurnKeys,
  toRangeId,
  toRangeKey,
} from '../../state/keys/turn.ts';

/*
 * A range of which events were refused is sent again under the same uuids, in the same turn. Its receipt and its
 * checkpoint say that the refused ones are done with, so the next attempt has objects of its own: a worker of the
 * attempt before, however long it slept, writes nothing that the next one reads (I5).
 */

/** Number of the latest attempt of each range of a step; 1 for the first. */
export type Attempts = (step: SendStep, range: BucketRange) => number;

export async function loadAttempts(staging: Staging, keys: TurnKeys): Promise<Attempts> {
  const latest = new Map<string, number>();
  for (const step of SEND_STEPS) {
    for await (const { key } of staging.list(keys.attempts(step))) {
      const range = parseRangeKey(key);
      if (!range) continue;
      const id = `${step} ${toRangeId(range)}`;
      latest.set(id, Math.max(range.attempt, latest.get(id) ?? 1));
    }
  }
  return (step, range) => latest.get(`${step} ${toRangeId(range)}`) ?? 1;
}

/** What the latest attempts of a step sent. */
export async function* listSentRanges(
  staging: Staging,
  keys: TurnKeys,
  step: SendStep,
  attempts: Attempts,
): AsyncGenerator<SentRange> {
  for await (const { key } of staging.list(keys[step])) {
    const range = parseRangeKey(key);
    if (!range || range.attempt !== attempts(step, range)) continue;
    const sent = await loadDocument(sentRange, key, staging);
    if (sent) yield sent;
  }
}

/**
 * Lets a resume send again the ranges of which events were refused. The turn continues, so other migrations do not
 * take them as sent.
 */
export async function reopenRefused(
  staging: Staging,
  keys: TurnKeys,
  ranges: readonly BucketRange[],
  attempts: Attempts,
): Promise<void> {
  for (const step of SEND_STEPS) {
    for (const range of ranges) {
      const attempt = attempts(step, range);
      const sent = await loadDocument(sentRange, toRangeKey(keys[step], range, attempt), staging);
      if (sent && countRefused(sent) > 0)
        await staging.create(toRangeKey(keys.attempts(step), range, attempt + 1), encodeDocument({}));
    }
  }
}
