/**
 * Commits together what comes while another commit is under way, so that many small requests share the cost
 * of one transaction. Everybody hears only after the commit that holds what they brought, and nobody waits
 * for company: whoever comes first begins.
 */
export interface GroupCommit<T> {
  /** Resolves once `item` is committed. Items of one `key` go together, in the order in which they come. */
  add(key: string, item: T): Promise<void>;
}

export interface GroupCommitOptions<T> {
  /** Commits all or nothing. */
  readonly commit: (key: string, items: readonly T[]) => Promise<void>;
  readonly maxItems: number;
  /** Whether an item that failed among others may go by itself; false when that would fail for the same reason. */
  readonly mayGoAlone: (error: unknown) => boolean;
}

interface Waiting<T> {
  readonly item: T;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export function createGroupCommit<T>({
  commit,
  maxItems,
  mayGoAlone,
}: GroupCommitOptions<T>): GroupCommit<T> {
  const queues = new Map<string, Waiting<T>[]>();

  async function settle(key: string, group: readonly Waiting<T>[]): Promise<void> {
    try {
      await commit(
        key,
        group.map(({ item }) => item),
      );
      for (const { resolve } of group) resolve();
    } catch (error) {
      // One bad item must not be the ruin of the others.
      if (group.length > 1 && mayGoAlone(error)) {
        for (const one of group) await settle(key, [one]);
      } else {
        for (const { reject } of group) reject(error);
      }
    }
  }

  async function run(key: string, queue: Waiting<T>[]): Promise<void> {
    while (queue.length > 0) {
      // What else has arrived by now comes along.
      await new Promise((resolve) => setImmediate(resolve));
      await settle(key, queue.splice(0, maxItems));
    }
    queues.delete(key);
  }

  return {
    add(key, item) {
      return new Promise((resolve, reject) => {
        const waiting = { item, resolve, reject };
        const queue = queues.get(key);
        if (queue !== undefined) {
          queue.push(waiting);
          return;
        }
        const begun = [waiting];
        queues.set(key, begun);
        void run(key, begun);
      });
    },
  };
}
