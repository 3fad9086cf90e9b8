import type { Cost } from '../measure.ts';

/** The input of a contender. */
export interface Task {
  /** A `.json.gz` in Amplitude's format. */
  readonly input: string;
  /** The address in front of `/batch/`. */
  readonly url: string;
  /** An empty folder of the contender's own. */
  readonly folder: string;
}

export interface Result {
  readonly records: number;
  /** Events that the contender counts as delivered; compared with what arrived. */
  readonly sent: number;
  /** In order; together they cover all of the contender's work. */
  readonly phases: Readonly<Record<string, Cost>>;
}

export type Contender = (task: Task) => Promise<Result>;
