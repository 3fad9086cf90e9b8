import { createHash } from 'node:crypto';
import { waitFor } from '../../lib/async/abort.ts';

/** Time as a budget sees it. */
export interface BudgetClock {
  /** Monotonic, in ms. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when that comes first. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: BudgetClock = { now: () => performance.now(), wait: waitFor };

/** Decides how many events may be sent, and when. Every attempt at a request takes its own permit (I6). */
export interface Budget {
  /** Most events that one permit should cover; a larger batch is sent in several requests. */
  readonly eventsPerPermit: number;
  /** Waits until this many events may be sent. Throws the signal's reason when aborted. */
  take(events: number, signal: AbortSignal): Promise<Permit>;
  /** No process that shares this budget gets a permit for the next `ms`. Never throws. */
  slowDown(ms: number): Promise<void>;
}

export interface Permit {
  /** Call when the request has ended, whatever its outcome. Never throws; only the first call counts. */
  settle(): Promise<void>;
}

/** A budget whose permits may wait for those of another one before they are used. */
export interface RenewingBudget extends Budget {
  take(events: number, signal: AbortSignal): Promise<RenewablePermit>;
}

export interface RenewablePermit extends Permit {
  /** As if it had just been granted. False where it cannot be used now, and another one is to be taken. */
  renew(signal: AbortSignal): Promise<boolean>;
}

/** No limit; still waits when the destination asks for a pause. For the bundled API. */
export function createUnlimitedBudget(): Budget {
  const pause = createLocalPause();
  return {
    eventsPerPermit: Number.POSITIVE_INFINITY,
    async take(_events, signal) {
      await pause.wait(signal);
      return { settle: async () => {} };
    },
    slowDown: async (ms) => pause.extend(ms),
  };
}

/** A pause of this process alone. */
export function createLocalPause(clock: BudgetClock = SYSTEM_CLOCK) {
  let untilMs = 0;
  return {
    extend(ms: number): void {
      untilMs = Math.max(untilMs, clock.now() + ms);
    },
    /** Waits until the pause is over, also when it is extended meanwhile. */
    async wait(signal: AbortSignal): Promise<void> {
      for (let leftMs = untilMs - clock.now(); leftMs > 0; leftMs = untilMs - clock.now()) {
        await clock.wait(Math.ceil(leftMs), signal);
      }
      signal.throwIfAborted();
    },
  };
}

/**
 * The budgets whose permits an event needs: that of its destination and key, and that of the project where it is named,
 * which a new key and other host names of the service share. The first one is shared with migrations that name no
 * project, and with earlier builds. The key is hashed, never stored (I10); the hash tag keeps all keys in one slot of a cluster.
 */
export function listRedisBudgetKeys({
  url,
  apiKey,
  project,
  service,
}: {
  readonly url: string;
  readonly apiKey: string;
  readonly project?: string | undefined;
  /** Of its host names the one that counts. @default that of `url` */
  readonly service?: string | undefined;
}): readonly string[] {
  const { origin, pathname, host } = new URL(url);
  const address = origin + pathname.replace(/\/+$/, '');
  const toKey = (...of: readonly string[]) =>
    `{bh}:budget:${createHash('sha256').update(of.join('\n')).digest('hex').slice(0, 32)}`;
  const ofKey = toKey(address, apiKey);
  // No address and no key holds a line break.
  return project === undefined ? [ofKey] : [toKey('project', service ?? host, project), ofKey];
}
