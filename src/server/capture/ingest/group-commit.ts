/**
 * Commits together what comes while another commit is under way, so that many small requests share the cost
 * of one transaction. Everybody hears only after the commit that holds what they brought. Whoever comes first
 * begins; what came meanwhile waits for those who were just answered, as they are about to come again. Without
 * that, the clients would split into two groups which take turns, and cost twice as many transactions.
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
  /**
   * Resolves when those who wait for company have waited long enough.
   *
   * @default after a millisecond
   */
  readonly patience?: () => Promise<void>;
}

const PATIENCE_MS = 1;

interface Queue<T> {
  readonly waiting: Waiting<T>[];
  /** Who waits for so many to be there. */
  expected: { readonly length: number; readonly resolve: () => void } | undefined;
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
  patience = () => new Promise((resolve) => setTimeout(resolve, PATIENCE_MS)),
}: GroupCommitOptions<T>): GroupCommit<T> {
  const queues = new Map<string, Queue<T>>();

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

  /** Waits for as many more as were just answered. */
  async function awaitCompany(queue: Queue<T>, answered: number): Promise<void> {
    const length = Math.min(queue.waiting.length + answered, maxItems);
    if (queue.waiting.length >= length) return;
    const company = new Promise<void>((resolve) => {
      queue.expected = { length, resolve };
    });
    await Promise.race([company, patience()]);
    queue.expected = undefined;
  }

  async function run(key: string, queue: Queue<T>): Promise<void> {
    while (queue.waiting.length > 0) {
      // What else has arrived by now comes along.
      await new Promise((resolve) => setImmediate(resolve));
      const group = queue.waiting.splice(0, maxItems);
      await settle(key, group);
      if (queue.waiting.length > 0) await awaitCompany(queue, group.length);
    }
    queues.delete(key);
  }

  return {
    add(key, item) {
      return new Promise((resolve, reject) => {
        const waiting = { item, resolve, reject };
        const queue = queues.get(key);
        if (queue !== undefined) {
          queue.waiting.push(waiting);
          const { expected } = queue;
          if (expected !== undefined && queue.waiting.length >= expected.length) expected.resolve();
          return;
        }
        const begun: Queue<T> = { waiting: [waiting], expected: undefined };
        queues.set(key, begun);
        void run(key, begun);
      });
    },
  };
}
