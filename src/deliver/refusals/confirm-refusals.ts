import { PausedError } from '../../lib/errors.ts';
import { LOOK_AND_RESUME, type RefusalGuard } from './refusal-guard.ts';

export type Answer = { readonly kind: 'accepted' } | { readonly kind: 'refused'; readonly detail: string };

export interface Confirming {
  /** Sends one event of the batch once more, alone. */
  readonly sendAgain: (index: number) => Promise<Answer>;
  /** Sends an event again that this destination has accepted before; undefined while there is none. */
  readonly sendKnownGood: () => Promise<Answer | undefined>;
  readonly guard: Pick<RefusalGuard, 'hasDoubt'>;
  /** Whether an operator has looked: an event with which nothing can be compared then stays refused. */
  readonly acceptRefusals: boolean;
}

/**
 * Decides which events that were refused alone are bad themselves. A destination that refuses everything for a
 * while would otherwise turn good events into rejects, those at the end of a part above all: too few for the
 * guard to notice. So a refusal counts only between two acceptances: the event is tried again while the
 * destination takes others, and afterwards it must still take an event that it took before; uuids make that
 * one harmless. A process that has had nothing accepted yet cannot tell, and leaves it to the operator.
 * Returns the events that stay refused.
 *
 * @throws {PausedError} when the destination refuses what it accepted before, or has accepted nothing yet
 */
export async function confirmRefusals(
  indexes: readonly number[],
  { sendAgain, sendKnownGood, guard, acceptRefusals }: Confirming,
): Promise<ReadonlyMap<number, string>> {
  const refused = new Map<number, string>();
  if (guard.hasDoubt()) assertNotRefused(await sendKnownGood());
  for (const index of indexes) {
    const answer = await sendAgain(index);
    if (answer.kind === 'refused') refused.set(index, answer.detail);
  }
  const [detail] = refused.values();
  if (detail === undefined) return refused;
  const answer = await sendKnownGood();
  assertNotRefused(answer);
  if (answer !== undefined || acceptRefusals) return refused;
  throw new PausedError(
    `the destination refused all of the first events that this process sent (${refused.size}; the first one: ${detail}), ` +
      `so it is unknown whether they are bad or everything is refused. ${LOOK_AND_RESUME}`,
  );
}

function assertNotRefused(answer: Answer | undefined): void {
  if (answer?.kind !== 'refused') return;
  throw new PausedError(
    `the destination refuses events that it accepted before (${answer.detail}). ` +
      'Look at the destination and what is in front of it, then resume; nothing is lost',
  );
}
