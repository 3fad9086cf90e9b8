import { createHash } from 'node:crypto';
import { createSemaphore } from '../../lib/async/semaphore.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Db } from '../database/db.ts';
import type { JsonObject } from '../http/json.ts';
import { computeInsight } from './compute-insight.ts';
import { type FailureReason, InsightError, tooManyAtOnce } from './insight-error.ts';
import { readInsight } from './read-insight.ts';
import type { InsightData } from './registry.ts';
import { createResultCache } from './result-cache.ts';
import type { StoredInsight } from './store.ts';

const TIME_LIMIT_MS = 10_000;
/** Fewer than the database has connections, so that events are ingested while dashboards are viewed. */
const MAX_COMPUTING = 3;
const MAX_WAITING = 300;
const MAX_KEPT_CHARACTERS = 16_000_000;

/** For how long a result may be served again. */
export const RESULT_KEPT_MS = 15_000;

export interface ComputeOptions {
  /**
   * The `filters` of the dashboard that shows the insight: `date_from` and `date_to` replace the insight's
   * own, `properties` are added to them.
   * @default {}
   */
  readonly dashboardFilters?: JsonObject;
  /** Computes again even when a kept result is fresh. */
  readonly refresh?: boolean;
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
  /** A sentence for the viewer: what cannot be computed and, where there is one, what to do instead. */
  readonly message: string;
  readonly filtersHash: string;
}

type Failure = Omit<FailedInsight, 'filtersHash'>;
type Outcome = { readonly kind: 'data'; readonly data: InsightData } | Failure;

export interface InsightResultsOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * How long the database may work on one insight.
   * @default 10000
   */
  readonly timeLimitMs?: number;
}

/** Computes results, a few at a time, and keeps each for a while. */
export interface InsightResults {
  /**
   * The result over the events stored now, or a kept one that is at most `RESULT_KEPT_MS` old. What the
   * insight itself makes impossible is a failed result, for the tile to show. It runs its own transactions,
   * so it must not be called inside one. Any number may be asked for at once: only a few are computed.
   */
  compute(
    db: Db,
    projectId: number,
    insight: StoredInsight,
    options?: ComputeOptions,
  ): Promise<InsightResult>;
}

export function createInsightResults({
  now,
  timeLimitMs = TIME_LIMIT_MS,
}: InsightResultsOptions): InsightResults {
  const cache = createResultCache<Outcome>({
    keptMs: RESULT_KEPT_MS,
    maxCharacters: MAX_KEPT_CHARACTERS,
    now,
  });
  const runInTurn = createSemaphore(MAX_COMPUTING, MAX_WAITING, tooManyAtOnce);

  async function computeOutcome(
    db: Db,
    projectId: number,
    insight: StoredInsight,
    { dashboardFilters }: ComputeOptions,
  ): Promise<Outcome> {
    try {
      const query = readInsight(insight, dashboardFilters);
      return { kind: 'data', data: await computeInsight(db, projectId, query, { now: now(), timeLimitMs }) };
    } catch (error) {
      return toFailure(error);
    }
  }

  return {
    async compute(db, projectId, insight, options = {}) {
      const filtersHash = hashFilters(projectId, insight, options);
      const make = () => runInTurn(() => computeOutcome(db, projectId, insight, options));
      try {
        const made = await (options.refresh ? cache.renew : cache.get)(filtersHash, make);
        return toResult(made, filtersHash);
      } catch (error) {
        return { ...toFailure(error), filtersHash };
      }
    },
  };
}

/** Anything but an InsightError is a fault of ours or of the database, and is thrown. */
function toFailure(error: unknown): Failure {
  if (error instanceof InsightError) return { kind: 'failed', reason: error.reason, message: error.message };
  throw error;
}

function toResult(
  { value, madeAt, isCached }: { value: Outcome; madeAt: number; isCached: boolean },
  filtersHash: string,
): InsightResult {
  if (value.kind === 'failed') return { ...value, filtersHash };
  return {
    kind: 'computed',
    data: value.data,
    computedAt: new Date(madeAt).toISOString(),
    isCached,
    filtersHash,
    nextRefreshAt: new Date(madeAt + RESULT_KEPT_MS).toISOString(),
  };
}

function hashFilters(
  projectId: number,
  { filters, query }: StoredInsight,
  { dashboardFilters }: ComputeOptions,
): string {
  const text = stringifyJson({ projectId, filters, query, dashboardFilters: dashboardFilters ?? {} });
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
