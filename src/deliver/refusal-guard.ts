import { PausedError } from '../lib/errors.ts';

/** Tells a destination that refuses everything from one that refuses bad events. */
export interface RefusalGuard {
  noteAccepted(): void;
  /** An event that was refused alone. Throws PausedError when too many in a row were. */
  noteRefused(detail: string): void;
  /** Whether nothing was accepted since the last refusal. */
  hasDoubt(): boolean;
}

/** Single events refused in a row, with nothing accepted between, before the migration pauses. */
const REFUSALS_IN_A_ROW = 20;

/**
 * Counts over all batches of one sender. A firewall or a broken destination that answers 400 to everything would
 * otherwise turn a whole history into rejects, one event at a time.
 */
export function createRefusalGuard(): RefusalGuard {
  let inARow = 0;
  return {
    noteAccepted() {
      inARow = 0;
    },
    hasDoubt: () => inARow > 0,
    noteRefused(detail) {
      inARow += 1;
      if (inARow < REFUSALS_IN_A_ROW) return;
      throw new PausedError(
        `the destination refused ${REFUSALS_IN_A_ROW} single events in a row and accepted none between them (the last one: ${detail}). ` +
          'Look at the destination and what is in front of it, then resume; nothing is lost. ' +
          'If the events themselves are bad, resume with --accept-refusals, which continues and keeps them as rejects',
      );
    },
  };
}

/** For an operator who has looked at the refusals. */
export const ACCEPT_REFUSALS: RefusalGuard = {
  noteAccepted() {},
  noteRefused() {},
  hasDoubt: () => false,
};
