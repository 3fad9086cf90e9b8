/** Results that are kept for a while, so that many viewers of one insight cost as much as one. */
export interface ResultCache<T> {
  /** What is kept, fresh or not. */
  find(key: string): Found<T> | undefined;
  /** The value that is being made, or a new one. */
  join(key: string, make: () => Promise<Made<T>>): Promise<Made<T>>;
  /** A value whose making begins after this call: one for all who ask while another is being made. */
  renew(key: string, make: () => Promise<Made<T>>): Promise<Made<T>>;
  isMaking(key: string): boolean;
}

export interface Made<T> {
  readonly value: T;
  /** When its making began, in milliseconds since 1970. */
  readonly madeAt: number;
  /** Until when nobody needs a newer one. */
  readonly freshUntil: number;
}

export interface Found<T> extends Made<T> {
  readonly isFresh: boolean;
}

export interface CacheLimits {
  /** From the beginning of its making. */
  readonly keptMs: number;
  /** Characters of JSON, all kept values together. */
  readonly maxCharacters: number;
  readonly now: () => number;
}

interface Entry<T> extends Made<T> {
  readonly characters: number;
}

interface Making<T> {
  readonly made: Promise<Made<T>>;
  /** For those who want one that begins later. */
  next?: Promise<Made<T>>;
}

export function createResultCache<T>({ keptMs, maxCharacters, now }: CacheLimits): ResultCache<T> {
  /** Oldest first. */
  const entries = new Map<string, Entry<T>>();
  const making = new Map<string, Making<T>>();
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

  function start(key: string, make: () => Promise<Made<T>>): Promise<Made<T>> {
    const made = make().then((result) => {
      keep(key, { ...result, characters: JSON.stringify(result.value).length });
      return result;
    });
    const entry: Making<T> = { made };
    making.set(key, entry);
    const forget = () => void (making.get(key) === entry && making.delete(key));
    made.then(forget, forget);
    return made;
  }

  return {
    find(key) {
      const kept = entries.get(key);
      if (kept === undefined || kept.madeAt + keptMs <= now()) return undefined;
      return { ...kept, isFresh: kept.freshUntil > now() };
    },
    join: (key, make) => making.get(key)?.made ?? start(key, make),
    renew(key, make) {
      const current = making.get(key);
      if (current === undefined) return start(key, make);
      const begin = () => start(key, make);
      current.next ??= current.made.then(begin, begin);
      return current.next;
    },
    isMaking: (key) => making.has(key),
  };
}
