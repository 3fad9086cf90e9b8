/** Counters of statements that may change tables; for a database that a single process writes to. */
export interface Watches {
  /** See Db.watch. */
  readonly watch: (tables: readonly string[]) => () => number;
  /** Must be called when the turn of a statement has come, before it is run. */
  readonly note: (statement: string) => void;
}

/** It reads alone: one that writes on the way begins with `with`, and no function of ours writes. */
const READS = /^\s*select\b/i;

/**
 * A statement may change a table that it names. Triggers and cascades reach further; whoever watches a table
 * must watch those that they begin at, too.
 */
export function createWatches(): Watches {
  const watched: { readonly names: RegExp; count: number }[] = [];
  return {
    watch(tables) {
      const entry = { names: new RegExp(`\\b(?:${tables.join('|')})\\b`), count: 0 };
      watched.push(entry);
      return () => entry.count;
    },
    note(statement) {
      if (READS.test(statement)) return;
      for (const entry of watched) if (entry.names.test(statement)) entry.count += 1;
    },
  };
}
