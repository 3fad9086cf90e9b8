import type { Db, Queryable } from '../database/db.ts';
import type { JsonObject } from '../http/json.ts';
import type { InsightData } from './insight-results.ts';

/**
 * What other rooms may ask of insights. app.ts makes one (`createInsights` in insights/insights.ts) and hands
 * it in, so that no room imports another.
 */
export interface Insights {
  /** Stores an insight as it is; whether it can be computed is told by `compute`. Returns its id. */
  create(tx: Queryable, projectId: number, userId: number | null, wanted: NewInsight): Promise<number>;
  /** A copy, named `<name> (Copy)` when it had a name. Undefined when there is no such insight. */
  duplicate(
    tx: Queryable,
    projectId: number,
    insightId: number,
    userId: number | null,
  ): Promise<number | undefined>;
  setDeleted(
    tx: Queryable,
    projectId: number,
    insightIds: readonly number[],
    deleted: boolean,
  ): Promise<void>;
  /** Those that exist, deleted ones included, in order of id. */
  load(db: Queryable, projectId: number, insightIds: readonly number[]): Promise<StoredInsight[]>;
  /**
   * The result over the events stored now, or a kept one that is at most `RESULT_KEPT_MS` old. Never throws
   * for what the insight asks: that is a failed result, for the tile to show. It runs its own
   * transactions, so it must not be called inside one. Several may be asked for at once: only a few run.
   */
  compute(
    db: Db,
    projectId: number,
    insight: StoredInsight,
    options?: ComputeOptions,
  ): Promise<InsightResult>;
  /** Safe HTML of a result for people, failed ones too, to stand below a heading of the caller's. */
  render(result: InsightResult): string;
  /** CSS that what `render` gives needs, once a page. All its class names begin with `insight`. */
  readonly styles: string;
}

export interface ComputeOptions {
  /**
   * The `filters` of the dashboard that shows the insight: `date_from` and `date_to` go before the
   * insight's own, `properties` are added to them. Left out: none.
   */
  readonly dashboardFilters?: JsonObject;
  /** Computes anew even when a kept result is fresh. */
  readonly refresh?: boolean;
}

/** For how long a result may be served again. */
export const RESULT_KEPT_MS = 15_000;

export interface NewInsight {
  readonly name: string | null;
  /** Left out: null. */
  readonly derivedName?: string | null;
  /** Left out: null. */
  readonly description?: string | null;
  /** As clients write them; `{}` where `query` says it all. */
  readonly filters: JsonObject;
  /** A newer query object (`InsightVizNode`); null or left out: `filters` say it all. */
  readonly query?: JsonObject | null;
  /** Left out: none. */
  readonly tags?: readonly string[];
  /** True for one that stems from a template. Left out: false. */
  readonly isSample?: boolean;
  /** True for one that stands on its own, not just on dashboards. Left out: false. */
  readonly saved?: boolean;
}

export interface StoredInsight {
  readonly id: number;
  readonly projectId: number;
  /** Eight characters, as clients put into addresses. */
  readonly shortId: string;
  readonly name: string | null;
  readonly derivedName: string | null;
  readonly description: string | null;
  readonly filters: JsonObject;
  readonly query: JsonObject | null;
  readonly tags: readonly string[];
  readonly saved: boolean;
  readonly favorited: boolean;
  readonly deleted: boolean;
  readonly isSample: boolean;
  /** ISO 8601, as all times here. */
  readonly createdAt: string;
  /** Id of a user; null for one that stems from a template. */
  readonly createdBy: number | null;
  readonly updatedAt: string;
  readonly lastModifiedAt: string;
  readonly lastModifiedBy: number | null;
}

export type InsightResult = ComputedInsight | FailedInsight;

export interface ComputedInsight {
  readonly kind: 'computed';
  readonly data: InsightData;
  /** When the events were read: `last_refresh` of tile and insight. */
  readonly computedAt: string;
  /** True when it was computed for an earlier request: `is_cached`. */
  readonly isCached: boolean;
  /** Same project, insight filters and dashboard filters, same hash: `filters_hash`. */
  readonly filtersHash: string;
  /** `next_allowed_client_refresh`. */
  readonly nextRefreshAt: string;
}

export interface FailedInsight {
  readonly kind: 'failed';
  readonly reason: FailureReason;
  /** A sentence for people: what cannot be computed and, where there is one, the way out. */
  readonly message: string;
  readonly filtersHash: string;
}

export type FailureReason =
  /** The filters are understood, but this service has no such insight. */
  | 'unsupported'
  /** The filters contradict themselves or cannot be read. */
  | 'invalid'
  /** It took longer than a tile may. */
  | 'too_slow'
  /** It would hold more series, intervals or events than a tile may. */
  | 'too_large';
