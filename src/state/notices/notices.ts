import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadDocument } from '../document.ts';
import { type AttemptNumber, NOTICES_SINCE, parseAttemptKey, toAttemptKey } from '../keys/notices.ts';

/*
 * Attempts to tell a webhook. What is told are states of migrations and runs of schedules, which are kept already:
 * one that has no attempt that ended it is open, whatever was killed meanwhile.
 */

const attempt = z.strictObject({
  at: z.string(),
  /** `expired`: it was too old to be told when it was found. */
  outcome: z.enum(['delivered', 'failed', 'expired']),
  /** Names neither the address nor the answer, which may hold secrets. */
  reason: z.string(),
});
export type Attempt = z.infer<typeof attempt>;

/** The attempts at one notice: how many, and the last. */
export interface Attempts {
  readonly count: number;
  readonly load: () => Promise<Attempt | undefined>;
}

/** By the number of what is told. */
export async function listAttempts(staging: Staging, folder: string): Promise<ReadonlyMap<number, Attempts>> {
  const last = new Map<number, AttemptNumber>();
  for await (const { key } of staging.list(folder)) {
    const number = parseAttemptKey(key);
    if (number && number.attempt > (last.get(number.notice)?.attempt ?? 0)) last.set(number.notice, number);
  }
  return new Map(
    [...last].map(([notice, number]) => [
      notice,
      {
        count: number.attempt,
        load: () => loadDocument(attempt, toAttemptKey(folder, number), staging),
      },
    ]),
  );
}

/** False where another process made an attempt of that number. */
export const addAttempt = (
  staging: Staging,
  folder: string,
  { number, attempt: value }: { readonly number: AttemptNumber; readonly attempt: Attempt },
): Promise<boolean> => staging.create(toAttemptKey(folder, number), encodeDocument(value));

const since = z.strictObject({ at: z.string() });

/** From when on the webhook is told, ms since 1970: when it was first used. */
export async function beginNotices(staging: Staging, at: string): Promise<number> {
  const known = await loadDocument(since, NOTICES_SINCE, staging);
  if (known) return Date.parse(known.at);
  if (await staging.create(NOTICES_SINCE, encodeDocument({ at }))) return Date.parse(at);
  return beginNotices(staging, at);
}
