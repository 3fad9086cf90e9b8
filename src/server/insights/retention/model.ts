import type { Interval } from '../../query/interval.ts';
import type { Breakdown, Entity } from '../entity.ts';
import type { KindData, KindQuery } from '../insight-kind.ts';

export interface RetentionQuery extends KindQuery<'RETENTION'> {
  readonly target: Entity;
  readonly returning: Entity;
  readonly period: Interval;
  readonly totalIntervals: number;
  /** Rows for each value that target events have. */
  readonly breakdown: Breakdown | undefined;
  /** Only the first target event of a person, with a breakdown of a person and a value, counts. */
  readonly firstTime: boolean;
}

export interface RetentionData extends KindData<'RETENTION'> {
  readonly result: readonly RetentionRow[];
}

export interface RetentionRow {
  readonly date: string;
  readonly label: string;
  /** Persons of this row who came back so many periods later; the first is the row's size. */
  readonly values: readonly { readonly count: number }[];
  /** With a breakdown, as of trends. */
  readonly breakdown_value?: string | number;
  /** The same for display. */
  readonly breakdown?: string;
}
