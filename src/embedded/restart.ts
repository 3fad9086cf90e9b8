import { waitFor } from '../lib/async/abort.ts';
import { getMessage, UnavailableError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { type Child, describeExit } from './child.ts';

export type RestartStep =
  | { readonly kind: 'restart'; readonly afterMs: number }
  | { readonly kind: 'give_up'; readonly deaths: number };

export const RESTARTS_PER_WINDOW = 5;
export const RESTART_WINDOW_MS = 60_000;
const FIRST_BACKOFF_MS = 50;

/** Restarts immediately after the first exit, then with growing delays, and gives up on a child that keeps exiting. */
export function planRestart(deathTimesMs: readonly number[], nowMs: number): RestartStep {
  const deaths = deathTimesMs.filter((time) => time > nowMs - RESTART_WINDOW_MS).length;
  if (deaths > RESTARTS_PER_WINDOW) return { kind: 'give_up', deaths };
  return { kind: 'restart', afterMs: deaths <= 1 ? 0 : FIRST_BACKOFF_MS * 2 ** (deaths - 1) };
}

export interface KeptChild {
  /** Stops the child permanently, and waits until it has ended. */
  stop(): Promise<void>;
  /** As of a child, which is not started again. */
  abandon(): void;
}

/** Starts the child again whenever it exits; `start` must start it at the same address. */
export function keepRunning(
  name: string,
  first: Child,
  start: () => Promise<Child>,
  onGiveUp: (error: UnavailableError) => void,
  log: Logger,
): KeptChild {
  const stopping = new AbortController();
  const deathTimesMs: number[] = [];
  let current = first;
  let isAbandoned = false;

  /** Undefined when the child is not started again. */
  async function restart(lastReason: string): Promise<Child | undefined> {
    let reason = lastReason;
    while (!stopping.signal.aborted) {
      const now = Date.now();
      deathTimesMs.push(now);
      const step = planRestart(deathTimesMs, now);
      if (step.kind === 'give_up') {
        onGiveUp(
          new UnavailableError(
            `The embedded ${name} died ${step.deaths} times within a minute and is not started again: ${reason}`,
          ),
        );
        return undefined;
      }
      log.warn({ child: name, reason, afterMs: step.afterMs }, 'child exited, starting it again');
      try {
        await waitFor(step.afterMs, stopping.signal);
        return await start();
      } catch (error) {
        reason = getMessage(error);
      }
    }
    return undefined;
  }

  async function watch(): Promise<void> {
    for (;;) {
      const exit = await current.exited;
      if (stopping.signal.aborted) return;
      const next = await restart(describeExit(exit));
      if (next === undefined) return;
      current = next;
      // It was stopped or abandoned while it was starting.
      if (isAbandoned) return current.abandon();
      if (stopping.signal.aborted) return current.stop();
    }
  }
  const watched = watch();

  return {
    async stop() {
      stopping.abort();
      await current.stop();
      await watched;
    },
    abandon() {
      isAbandoned = true;
      stopping.abort();
      current.abandon();
    },
  };
}
