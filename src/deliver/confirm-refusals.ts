import { PausedError } from '../lib/errors.ts';
import type { RefusalGuard } from './refusal-guard.ts';

export type Answer = { readonly kind: 'accepted' } | { readonly kind: 'refused'; readonly detail: string };

export interface Confirming {
  /** Sends one event of the batch once more, alone. */
  readonly sendAgain: (index: number) => Promise<Answer>;
  /** Sends an event again that this destination has accepted before; undefined while there is none. */
  readonly sendKnownGood: () => Promise<Answer | undefined>;
  readonly guard: Pick<RefusalGuard, 'hasDoubt'>;
}

/**
 * Decides which events that were refused alone are bad themselves. A destination that refuses everything for a
 * while would otherwise turn good events into rejects, those at the end of a part above all: too few for the
 * guard to notice. So a refusal counts only between two acceptances: the event is tried again while the
 * destination takes others, and afterwards it must still take an event that it took before; uuids make that
 * one harmless. Returns the events that stay refused.
 *
 * @throws {PausedError} when the destination refuses what it accepted before
 */
export async function confirmRefusals(
  indexes: readonly number[],
  { sendAgain, sendKnownGood, guard }: Confirming,
): Promise<ReadonlyMap<number, string>> {
  const refused = new Map<number, string>();
  if (guard.hasDoubt()) assertAccepted(await sendKnownGood());
  for (const index of indexes) {
    const answer = await sendAgain(index);
    if (answer.kind === 'refused') refused.set(index, answer.detail);
  }
  if (refused.size > 0) assertAccepted(await sendKnownGood());
  return refused;
}

function assertAccepted(answer: Answer | undefined): void {
  if (answer?.kind !== 'refused') return;
  throw new PausedError(
    `the destination refuses events that it accepted before (${answer.detail}). ` +
      'Look at the destination and what is in front of it, then resume; nothing is lost',
  );
}
