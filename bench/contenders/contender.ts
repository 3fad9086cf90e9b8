import type { Cost } from '../lab/measure.ts';

/** The input of a contender that is a script of this folder. */
export interface Task {
  /** A `.json.gz` in Amplitude's format. */
  readonly input: string;
  /** The address in front of `/batch/`. */
  readonly url: string;
  /** An empty folder of the contender's own. */
  readonly folder: string;
  /** Where the packages of `bench/peers` are installed. */
  readonly peers: string;
}

export interface Result {
  readonly records: number;
  /** Events that the contender counts as sent; compared with what arrived. */
  readonly sent: number;
  /** Of a contender whose phases are measured apart. */
  readonly phases?: Readonly<Record<string, Cost>>;
}

export type Contender = (task: Task) => Promise<Result>;
