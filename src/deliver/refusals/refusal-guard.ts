import { PausedError } from '../../lib/errors.ts';

/** Tells a destination that refuses everything from one that refuses bad events. */
export interface RefusalGuard {
  /** Events that were not accepted before: one that is only sent again says nothing about the others. */
  noteAccepted(events: number): void;
  /** An event that was refused alone. Throws PausedError when too many in a row were. */
  noteRefused(detail: string): void;
  /** The same of one that was refused without a word about events. Throws when these are too large a share, too. */
  noteDoubtful(detail: string): void;
  /** A batch of so many events of which none was accepted. Throws PausedError when too many in a row were. */
  noteBatchRefused(events: number, detail: string): void;
  /** Whether nothing was accepted since the last refusal. */
  hasDoubt(): boolean;
}

/** Single events refused in a row, with nothing accepted between, before the migration pauses. */
const REFUSALS_IN_A_ROW = 20;
/** Events refused without a word about events, of each event accepted: more, and it is no matter of single events. */
const DOUBTFUL_SHARE = 0.01;
/** The same for whole batches, which may be too small to come to so many events. */
const BATCHES_IN_A_ROW = 3;

/**
 * Counts over all batches of one sender. A firewall or a broken destination that answers 400 to everything would
 * otherwise turn a whole history into rejects, one event at a time.
 */
export function createRefusalGuard(): RefusalGuard {
  let inARow = 0;
  let batchesInARow = 0;
  let accepted = 0;
  let doubtful = 0;
  function noteRefused(detail: string): void {
    inARow += 1;
    if (inARow >= REFUSALS_IN_A_ROW) throw pauseFor(`${REFUSALS_IN_A_ROW} single events`, detail);
  }
  return {
    noteAccepted(events) {
      accepted += events;
      inARow = 0;
      batchesInARow = 0;
    },
    hasDoubt: () => inARow > 0,
    noteRefused,
    noteDoubtful(detail) {
      noteRefused(detail);
      doubtful += 1;
      if (doubtful < REFUSALS_IN_A_ROW || doubtful <= accepted * DOUBTFUL_SHARE) return;
      throw new PausedError(
        `the destination refused ${doubtful} single events and accepted ${accepted}, with answers that say nothing of events ` +
          `(the last one: ${detail}), so it is unknown whether they are bad. ${LOOK_AND_RESUME}`,
      );
    },
    noteBatchRefused(events, detail) {
      // One event that is refused is a single event.
      if (events > 1) batchesInARow += 1;
      if (batchesInARow >= BATCHES_IN_A_ROW) throw pauseFor(`${BATCHES_IN_A_ROW} whole batches`, detail);
    },
  };
}

const pauseFor = (what: string, detail: string) =>
  new PausedError(
    `the destination refused ${what} in a row and accepted none between them (the last one: ${detail}). ${LOOK_AND_RESUME}`,
  );

/** What an operator does about refusals that may be the destination's. */
export const LOOK_AND_RESUME =
  'Look at the destination and what is in front of it, then resume; nothing is lost. ' +
  'If the events themselves are bad, resume with --accept-refusals, which continues and keeps them as rejects';

/** For an operator who has looked at the refusals. */
export const ACCEPT_REFUSALS: RefusalGuard = {
  noteAccepted() {},
  noteRefused() {},
  noteDoubtful() {},
  noteBatchRefused() {},
  hasDoubt: () => false,
};
