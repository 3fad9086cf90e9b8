import type { Db } from '../../database/db.ts';
import type { Found, Wanted } from './lookup.ts';

/** Every table that a lookup reads, and those at which a trigger or a cascade into one of them begins. */
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

/** People whose facts are kept, and characters of what is stored about them. */
const MAX_KEPT = 20_000;
const MAX_CHARACTERS = 8 * 1024 * 1024;
/** What an entry costs beside its texts. */
const ENTRY_CHARACTERS = 200;

/**
 * What was found about those who asked, until any statement may have changed it. Only the embedded database
 * can say so, as no other process writes to it; elsewhere nothing is kept.
 */
export interface Kept {
  /** Undefined where it has to be looked up. */
  find(wanted: Wanted): Found | undefined;
  /** Must be called before a lookup begins; the function that it returns takes what was found. */
  begin(wanted: Wanted): (found: Found) => void;
}

export function createKept(db: Pick<Db, 'watch'>, maxCharacters: number = MAX_CHARACTERS): Kept {
  const countChanges = db.watch(LOOKUP_TABLES);
  if (countChanges === undefined) return { find: () => undefined, begin: () => () => {} };
  const entries = new Map<string, { readonly found: Found; readonly characters: number }>();
  let characters = 0;
  let changes = countChanges();

  function isCurrent(): boolean {
    const now = countChanges?.() ?? 0;
    if (now === changes) return true;
    entries.clear();
    characters = 0;
    changes = now;
    return false;
  }

  function drop(key: string): void {
    const entry = entries.get(key);
    if (entry === undefined) return;
    entries.delete(key);
    characters -= entry.characters;
  }

  return {
    find: (wanted) => (isCurrent() ? entries.get(toKey(wanted))?.found : undefined),
    begin(wanted) {
      isCurrent();
      const before = changes;
      return (found) => {
        if (!isCurrent() || changes !== before) return;
        const key = toKey(wanted);
        drop(key);
        const size = key.length + found.characters + ENTRY_CHARACTERS;
        if (size > maxCharacters) return;
        entries.set(key, { found, characters: size });
        characters += size;
        for (const oldest of entries.keys()) {
          if (characters <= maxCharacters && entries.size <= MAX_KEPT) break;
          drop(oldest);
        }
      };
    },
  };
}

/** A project key is printable ASCII, so it ends where the line does. */
function toKey({ projectKey, distinctId, groups }: Wanted): string {
  const person = `${projectKey}\n${distinctId}`;
  return groups.size === 0 ? person : JSON.stringify([person, ...groups]);
}
