/** Results that are kept for a while, so that many viewers of one insight cost as much as one. */
export interface ResultCache<T> {
  /** A kept value, or the one that is being made, or a new one. */
  get(key: string, make: () => Promise<T>): Promise<Kept<T>>;
  /** A new value, which is then kept. */
  renew(key: string, make: () => Promise<T>): Promise<Kept<T>>;
}

export interface Kept<T> {
  readonly value: T;
  /** When its making began, in milliseconds since 1970. */
  readonly madeAt: number;
  /** True when it was made for an earlier caller. */
  readonly isCached: boolean;
}

export interface CacheLimits {
  readonly keptMs: number;
  /** Characters of JSON, all kept values together. */
  readonly maxCharacters: number;
  readonly now: () => number;
}

interface Entry<T> {
  readonly value: T;
  readonly madeAt: number;
  readonly characters: number;
}

export function createResultCache<T>({ keptMs, maxCharacters, now }: CacheLimits): ResultCache<T> {
  /** Oldest first. */
  const entries = new Map<string, Entry<T>>();
  const making = new Map<string, Promise<Kept<T>>>();
  let characters = 0;

  function drop(key: string): void {
    characters -= entries.get(key)?.characters ?? 0;
    entries.delete(key);
  }

  function keep(key: string, entry: Entry<T>): void {
    drop(key);
    entries.set(key, entry);
    characters += entry.characters;
    for (const [oldest, { madeAt }] of entries) {
      if (characters <= maxCharacters && madeAt + keptMs > now()) return;
      drop(oldest);
    }
  }

  async function renew(key: string, make: () => Promise<T>): Promise<Kept<T>> {
    const madeAt = now();
    const value = await make();
    keep(key, { value, madeAt, characters: JSON.stringify(value).length });
    return { value, madeAt, isCached: false };
  }

  return {
    renew,
    async get(key, make) {
      const kept = entries.get(key);
      if (kept !== undefined && kept.madeAt + keptMs > now()) {
        return { value: kept.value, madeAt: kept.madeAt, isCached: true };
      }
      const shared = making.get(key);
      if (shared !== undefined) return { ...(await shared), isCached: true };
      const made = renew(key, make).finally(() => making.delete(key));
      making.set(key, made);
      return made;
    },
  };
}
