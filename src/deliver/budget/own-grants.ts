import type { BudgetClock } from './budget.ts';

interface Grant {
  readonly events: number;
  /** Until when it counts. */
  untilMs: number;
}

export interface OwnGrant {
  /** Its request has not begun yet. False where it no longer counts. */
  renew(): boolean;
  /** Its request has ended. */
  end(): void;
}

export interface OwnGrantsOptions {
  /** Most events in any window. */
  readonly cap: number;
  /** How long a grant counts after its request was settled. */
  readonly countedMs: number;
  /** Longest lifetime of a request. */
  readonly requestTimeoutMs: number;
  readonly clock: Pick<BudgetClock, 'now'>;
}

/**
 * The grants of this process, counted once more by its own clock, which nobody sets: a clock of Redis that is set
 * forward lets the fleet's count expire early. Without such a step the fleet's count is never below this one.
 */
export function createOwnGrants({ cap, countedMs, requestTimeoutMs, clock }: OwnGrantsOptions) {
  const grants = new Set<Grant>();
  let sum = 0;

  function expire(): void {
    for (const grant of grants) {
      if (grant.untilMs >= clock.now()) continue;
      grants.delete(grant);
      sum -= grant.events;
    }
  }

  return {
    /** Until this many events fit into the window; 0 where they do. */
    getWaitMs(events: number): number {
      expire();
      let over = sum + events - cap;
      if (over <= 0) return 0;
      let freeMs = clock.now();
      for (const grant of [...grants].sort((a, b) => a.untilMs - b.untilMs)) {
        // One that is not settled counts for at least another window.
        freeMs = Math.min(grant.untilMs, clock.now() + countedMs);
        over -= grant.events;
        if (over <= 0) break;
      }
      return freeMs - clock.now() + 1;
    },
    add(events: number): OwnGrant {
      const toLatest = () => clock.now() + requestTimeoutMs + countedMs;
      const grant = { events, untilMs: toLatest() };
      grants.add(grant);
      sum += events;
      return {
        renew() {
          if (!grants.has(grant)) return false;
          grant.untilMs = toLatest();
          return true;
        },
        end() {
          grant.untilMs = clock.now() + countedMs;
        },
      };
    },
  };
}
