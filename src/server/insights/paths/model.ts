import type { KindData, KindQuery } from '../insight-kind.ts';

export interface PathsQuery extends KindQuery<'PATHS'> {
  readonly include: {
    readonly pageviews: boolean;
    readonly screens: boolean;
    /** Every event whose name does not begin with `$`. */
    readonly custom: boolean;
    readonly events: readonly string[];
  };
  /** Items that are not part of paths. */
  readonly exclude: readonly string[];
  readonly startPoint: string | undefined;
  readonly endPoint: string | undefined;
  readonly stepLimit: number;
  readonly edgeLimit: number;
  readonly minEdgeWeight: number | undefined;
  readonly maxEdgeWeight: number | undefined;
  /** Items that match `*` patterns become the pattern. */
  readonly groupings: readonly string[];
}

export interface PathsData extends KindData<'PATHS'> {
  readonly result: readonly PathEdge[];
}

export interface PathEdge {
  /** `1_/home`: position in the path and item. */
  readonly source: string;
  readonly target: string;
  /** Sessions that went this way. */
  readonly value: number;
  /** Milliseconds. */
  readonly average_conversion_time: number;
}
