import type { Batch } from '../../contract/delivery.ts';
import type { Attempts, Sending } from '../attempt.ts';
import type { AskAccepted } from './ask-accepted.ts';
import type { AskOthers } from './doubts.ts';
import type { KnownGood } from './known-good.ts';

export interface OthersOptions {
  readonly attempt: Attempts['attempt'];
  /** The request with the events of a body: see Batch. */
  readonly pack: (body: Buffer) => Promise<Buffer>;
  readonly knownGood: KnownGood;
  readonly acceptedBefore: AskAccepted;
  readonly acceptRefusals: boolean;
  /** Waits as long as after so many failed attempts. */
  readonly backOff: (tries: number, signal: AbortSignal) => Promise<void>;
}

/** The events that are asked about while a batch is sent: whether the destination takes others than those in doubt. */
export function createOthers(options: OthersOptions): (sending: Sending) => AskOthers {
  const { attempt, pack, knownGood, acceptedBefore, acceptRefusals, backOff } = options;
  let onlyRefused: Buffer | undefined;

  async function sendOnce(event: Batch, sending: Sending) {
    const decision = await attempt(await pack(event.body.subarray(0, -1)), 1, sending);
    if (decision.kind === 'accepted') knownGood.note(event, 0, sending.condition);
    return decision;
  }

  return (sending) => ({
    findKnownGood: () => knownGood.find(sending.condition),
    // They are of no turn.
    seekKnownGood: () =>
      acceptedBefore.seek((event) => sendOnce(event, { signal: sending.signal, condition: undefined })),
    isOnlyOne: ({ body }) => {
      onlyRefused ??= body;
      return acceptedBefore.hasNone() && onlyRefused.equals(body);
    },
    sendOnce: (event) => sendOnce(event, sending),
    acceptRefusals,
    // An older value must not arrive behind a newer one.
    keepsOrder: sending.condition !== undefined,
    pause: (tries) => backOff(tries, sending.signal),
  });
}
