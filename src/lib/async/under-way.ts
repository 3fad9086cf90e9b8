/** Work of one kind in this process. */
export interface UnderWay {
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Calls with whether any is under way, now and whenever that changes. Returns what stops it. */
  watch(listener: (isUnderWay: boolean) => void): () => void;
}

export function createUnderWay(): UnderWay {
  const listeners = new Set<(isUnderWay: boolean) => void>();
  let count = 0;
  const tell = () => {
    for (const listener of listeners) listener(count > 0);
  };
  return {
    async during(work) {
      count += 1;
      if (count === 1) tell();
      try {
        return await work();
      } finally {
        count -= 1;
        if (count === 0) tell();
      }
    },
    watch(listener) {
      listeners.add(listener);
      listener(count > 0);
      return () => void listeners.delete(listener);
    },
  };
}
