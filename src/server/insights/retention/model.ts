import type { Interval } from '../../query/interval.ts';
import type { Entity, PropertyOf } from '../entity.ts';
import type { KindData, KindQuery } from '../insight-kind.ts';

export interface RetentionQuery extends KindQuery<'RETENTION'> {
  readonly target: Entity;
  readonly returning: Entity;
  readonly period: Interval;
  readonly totalIntervals: number;
  /** Only target events whose property has this value count, empty for none. */
  readonly ofValue?: { readonly property: PropertyOf; readonly value: string };
  /** Only the first target event of a person counts. */
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
}
