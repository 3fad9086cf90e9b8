import type { Logger } from 'pino';

/** The largest request that a destination is sent, learned from its 413s. In bytes before compression. */
export interface SizeCap {
  /** Infinity until the destination has found a request too large. */
  readonly bytes: number;
  noteAccepted(bytes: number): void;
  noteTooLarge(bytes: number): void;
}

/** Accepted requests near the cap before it doubles. Doubles itself each time the cap is lowered. */
const FIRST_TRIAL = 4;
const LONGEST_TRIAL = 1024;

/**
 * A 413 halves the cap, and accepted requests double it again: a stray 413 makes requests smaller for a while, and
 * a destination with a lower limit of its own is tested more and more rarely. Never below what was accepted once.
 */
export function createSizeCap(log: Pick<Logger, 'info'>): SizeCap {
  let cap = Number.POSITIVE_INFINITY;
  let largestAccepted = 0;
  let largestRefused = 0;
  let trial = FIRST_TRIAL;
  let acceptedNearCap = 0;

  return {
    get bytes() {
      return cap;
    },

    noteAccepted(bytes) {
      largestAccepted = Math.max(largestAccepted, bytes);
      if (bytes * 2 <= cap || cap === Number.POSITIVE_INFINITY) return;
      acceptedNearCap += 1;
      if (acceptedNearCap < trial) return;
      acceptedNearCap = 0;
      cap *= 2;
      if (cap <= largestRefused) return;
      cap = Number.POSITIVE_INFINITY;
      largestRefused = 0;
      trial = FIRST_TRIAL;
    },

    noteTooLarge(bytes) {
      const lower = Math.max(Math.ceil(bytes / 2), largestAccepted);
      if (lower >= cap || lower >= bytes) return;
      if (cap !== Number.POSITIVE_INFINITY) trial = Math.min(trial * 2, LONGEST_TRIAL);
      cap = lower;
      largestRefused = Math.max(largestRefused, bytes);
      acceptedNearCap = 0;
      log.info({ bytes, byteCap: cap }, 'request too large for the destination, the next ones are smaller');
    },
  };
}
