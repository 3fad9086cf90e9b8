/**
 * Event names that are known to be defined, so that most requests need not ask the database: a question
 * costs a request of one event a sixth of its time. A name is remembered only when the transaction that
 * saw to it is committed, and no longer than `KEPT_MS`, so that the day it was last seen moves on. Each
 * removal of a definition counts up in its project's row, which every request reads: what any process
 * remembers of the time before is void.
 */
export interface DefinedNames {
  of(project: { readonly id: number; readonly definitionsRemoved: number }): NamesOfProject;
}

export interface NamesOfProject {
  /** Those that are to be looked after. */
  missing(names: readonly string[]): string[];
  remember(names: readonly string[]): void;
}

const KEPT_MS = 3_600_000;
/** Of all projects together. When they are more, they are forgotten, which costs a question each. */
const MAX_NAMES = 20_000;

interface Known {
  readonly definitionsRemoved: number;
  readonly keptUntilMs: Map<string, number>;
}

export function createDefinedNames(now: () => number, maxNames = MAX_NAMES): DefinedNames {
  const projects = new Map<number, Known>();
  let count = 0;

  function knownOf(id: number, definitionsRemoved: number): Known {
    const known = projects.get(id);
    if (known?.definitionsRemoved === definitionsRemoved) return known;
    count -= known?.keptUntilMs.size ?? 0;
    const fresh = { definitionsRemoved, keptUntilMs: new Map<string, number>() };
    projects.set(id, fresh);
    return fresh;
  }

  return {
    of({ id, definitionsRemoved }) {
      return {
        missing(names) {
          const { keptUntilMs } = knownOf(id, definitionsRemoved);
          return names.filter((name) => (keptUntilMs.get(name) ?? 0) <= now());
        },
        remember(names) {
          if (names.length > maxNames) return;
          if (count + names.length > maxNames) {
            projects.clear();
            count = 0;
          }
          const { keptUntilMs } = knownOf(id, definitionsRemoved);
          const before = keptUntilMs.size;
          for (const name of names) keptUntilMs.set(name, now() + KEPT_MS);
          count += keptUntilMs.size - before;
        },
      };
    },
  };
}
