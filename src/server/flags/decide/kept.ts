/** Every table that a decision depends on, and those at which a trigger or a cascade into one of them begins. */
export const LOOKUP_TABLES = [
  'projects',
  'persons',
  'person_distinct_ids',
  'cohorts',
  'cohort_members',
  'flag_hash_keys',
  'group_types',
  'groups',
  'feature_flags',
] as const;

/** What an entry costs beside its texts. */
const ENTRY_CHARACTERS = 200;

/** Values that were computed from what is stored, until any statement may have changed that. */
export interface Kept<V> {
  find(key: string): V | undefined;
  /** Must be called before the value is looked up; the function that it returns takes the value. */
  begin(): (key: string, value: V, characters: number) => void;
}

/**
 * `countChanges` as Db.watch returns it: where it is undefined nothing is kept. Beyond `maxCharacters` of keys
 * and values the oldest goes first.
 */
export function createKept<V>(countChanges: (() => number) | undefined, maxCharacters: number): Kept<V> {
  if (countChanges === undefined) return { find: () => undefined, begin: () => () => {} };
  const entries = new Map<string, { readonly value: V; readonly characters: number }>();
  let characters = 0;
  let changes = countChanges();

  function dropOutdated(): void {
    const now = countChanges?.() ?? 0;
    if (now === changes) return;
    entries.clear();
    characters = 0;
    changes = now;
  }

  function drop(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    characters -= entry.characters;
  }

  return {
    find(key) {
      dropOutdated();
      return entries.get(key)?.value;
    },
    begin() {
      const before = countChanges();
      return (key, value, ownCharacters) => {
        dropOutdated();
        const size = key.length + ownCharacters + ENTRY_CHARACTERS;
        if (changes !== before || size > maxCharacters) return;
        drop(key);
        entries.set(key, { value, characters: size });
        characters += size;
        for (const oldest of entries.keys()) {
          if (characters <= maxCharacters) break;
          drop(oldest);
        }
      };
    },
  };
}
