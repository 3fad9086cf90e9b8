/** A worker that was corrected was started again, and has no refusals. */
const HOLD_MS = 10_000;

interface Refusal {
  readonly epoch: unknown;
  readonly ended: Promise<void>;
  readonly end: () => void;
}

/**
 * The migrations whose jobs this process has just found that it cannot do. For some seconds, or until a job of
 * another epoch comes, it gives their jobs back untouched, and its slots stay empty so that others take them.
 */
export function createRefusals(holdMs = HOLD_MS) {
  const refusals = new Map<string, Refusal>();
  return {
    add(migration: string, epoch: unknown): void {
      if (this.includes(migration, epoch)) return;
      refusals.get(migration)?.end();
      let end = () => {};
      const ended = new Promise<void>((resolve) => {
        const timer = setTimeout(() => end(), holdMs).unref();
        end = () => {
          clearTimeout(timer);
          if (refusals.get(migration)?.ended === ended) refusals.delete(migration);
          resolve();
        };
      });
      refusals.set(migration, { epoch, ended, end });
    },
    has: (migration: string): boolean => refusals.has(migration),
    includes(migration: string, epoch: unknown): boolean {
      const refusal = refusals.get(migration);
      return refusal !== undefined && refusal.epoch === epoch;
    },
    /** Resolves when the jobs of a migration may be tried again. */
    ended: async (migration: string): Promise<void> => refusals.get(migration)?.ended,
    endAll(): void {
      for (const { end } of [...refusals.values()]) end();
    },
  };
}
