import type { Logger } from 'pino';
import type { Batch } from '../../contract/delivery.ts';
import { getMessage } from '../../lib/errors.ts';
import type { Decision } from '../classify.ts';

/** Events that the destination accepted before this process began. */
export interface AskAccepted {
  /** Whether it is known that there are none. */
  hasNone(): boolean;
  /** Sends one after the other until one is taken. */
  seek(send: (event: Batch) => Promise<Decision>): Promise<void>;
}

/**
 * A process that has had nothing accepted yet cannot tell an outage, or a wrong key, from one event. The migration may
 * have events that were accepted before it began: they are loaded once and sent until one is taken.
 */
export function createAskAccepted(
  load: () => Promise<readonly Batch[]>,
  log: Pick<Logger, 'warn'>,
): AskAccepted {
  let loaded: readonly Batch[] | undefined;
  return {
    hasNone: () => loaded?.length === 0,

    async seek(send) {
      try {
        loaded ??= await load();
      } catch (error) {
        log.warn({ err: getMessage(error) }, 'no event that was accepted before could be read');
      }
      for (const event of loaded ?? []) if ((await send(event)).kind === 'accepted') return;
    },
  };
}
