import type { Spread } from './spread.ts';

/** The figures of a benchmark: what `--json` writes. Only ratios can be compared between machines. */
export interface Figures {
  readonly about: About;
  readonly tables: readonly Table[];
}

export interface About {
  readonly startedAt: string;
  readonly commit: string;
  readonly node: string;
  readonly machine: string;
  readonly peers: string;
  readonly notes: readonly string[];
}

export interface Table {
  /** The name that `--only` takes. */
  readonly section: string;
  readonly title: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** How to read it, where that is not plain. */
  readonly notes?: readonly string[];
  /** When and at which commit, where that is another run than the figures are of. */
  readonly measured?: string;
}

/** `ratio` 2 decimals, `micros` and `seconds` 1 and 2, `whole` with thousands, `text` as it is. */
export type Format = 'ratio' | 'micros' | 'seconds' | 'whole' | 'text';

export interface Column {
  readonly key: string;
  readonly head: string;
  readonly format: Format;
}

export interface Row {
  readonly name: string;
  /** By the key of a column; missing where there is nothing to say. */
  readonly cells: Readonly<Record<string, Spread | string | undefined>>;
}

/** What a section yields: its table, and what makes the run invalid. */
export interface SectionResult {
  readonly tables: readonly Table[];
  /** Why figures of Backhaul itself must not be used: the benchmark then fails. */
  readonly problems: readonly string[];
}
