/**
 * Event names that are known to be defined, so that most requests need not query the database: the query
 * costs a request of one event a sixth of its time. A name is remembered only once its transaction is
 * committed, and no longer than `KEPT_MS`, so that the day it was last seen is updated. Each removal of a
 * definition increments a counter in its project's row, which every request reads: names that any process
 * remembered before are then forgotten.
 */
export interface DefinedNames {
  forProject(project: { readonly id: number; readonly definitionsRemoved: number }): ProjectNames;
}

export interface ProjectNames {
  /** Those that may have no definition, or an old time of being seen. */
  findMissing(names: readonly string[]): string[];
  remember(names: readonly string[]): void;
}

const KEPT_MS = 3_600_000;
/** Of all projects together. Beyond it all are forgotten, which costs each project a query. */
const MAX_NAMES = 20_000;

interface Known {
  readonly definitionsRemoved: number;
  readonly keptUntilMs: Map<string, number>;
}

export function createDefinedNames(now: () => number, maxNames = MAX_NAMES): DefinedNames {
  const projects = new Map<number, Known>();
  let count = 0;

  function findKnown(id: number, definitionsRemoved: number): Known {
    const known = projects.get(id);
    if (known?.definitionsRemoved === definitionsRemoved) return known;
    count -= known?.keptUntilMs.size ?? 0;
    const fresh = { definitionsRemoved, keptUntilMs: new Map<string, number>() };
    projects.set(id, fresh);
    return fresh;
  }

  return {
    forProject({ id, definitionsRemoved }) {
      return {
        findMissing(names) {
          const { keptUntilMs } = findKnown(id, definitionsRemoved);
          return names.filter((name) => (keptUntilMs.get(name) ?? 0) <= now());
        },
        remember(names) {
          if (names.length > maxNames) return;
          if (count + names.length > maxNames) {
            projects.clear();
            count = 0;
          }
          const { keptUntilMs } = findKnown(id, definitionsRemoved);
          const before = keptUntilMs.size;
          for (const name of names) keptUntilMs.set(name, now() + KEPT_MS);
          count += keptUntilMs.size - before;
        },
      };
    },
  };
}
