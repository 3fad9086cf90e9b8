import { createHash } from 'node:crypto';
import type { Semaphore } from '../../lib/async/semaphore.ts';
import { withTimeout } from '../../lib/async/timeout.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Db } from '../database/db.ts';
import type { JsonObject } from '../http/json.ts';
import type { Moment } from './ask-database.ts';
import { computeInsight } from './compute-insight.ts';
import { type FailureReason, InsightError, pending } from './insight-error.ts';
import { createQuestionTurns } from './question-turns.ts';
import { readInsight } from './read-insight.ts';
import type { InsightData } from './registry.ts';
import { createResultCache, type Made } from './result-cache.ts';
import type { StoredInsight } from './store.ts';

const TIME_LIMIT_MS = 10_000;
const MAX_KEPT_CHARACTERS = 16_000_000;
/** How long a request waits for results. They are computed to their end, and kept for the next request. */
const WAIT_MS = 10_000;
/** The same where there is an older result to show. */
const WAIT_FOR_NEWER_MS = 2000;

/** For how long nobody needs a newer result. */
export const RESULT_FRESH_MS = 15_000;
/** The same as a multiple of the time that it took: an insight that is always looked at takes a twentieth. */
const FRESH_FACTOR = 20;
/** For how long an older result is shown while a newer one is computed. */
const RESULT_KEPT_MS = 3_600_000;
/** New results that one page may ask for. */
const MAX_STARTED = 20;

/** What one page may cost, shared by its insights. */
export interface WorkBudget {
  startsLeft: number;
}

export const createWorkBudget = (): WorkBudget => ({ startsLeft: MAX_STARTED });

export interface ComputeOptions {
  /**
   * The `filters` of the dashboard that shows the insight: `date_from` and `date_to` replace the insight's
   * own, `properties` are added to them.
   * @default {}
   */
  readonly dashboardFilters?: JsonObject;
  /** Computes again even when a kept result is fresh. */
  readonly refresh?: boolean;
  /** @default no limit to what is computed again */
  readonly budget?: WorkBudget;
}

export type InsightResult = ComputedInsight | FailedInsight;

export interface ComputedInsight {
  readonly kind: 'computed';
  readonly data: InsightData;
  /** The share of the events that was asked for; all are counted. */
  readonly samplingFactor?: number | undefined;
  /** When the events were read: `last_refresh` of tile and insight. */
  readonly computedAt: string;
  /** True when it was computed for an earlier request, or for another one at the same time: `is_cached`. */
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
type Outcome =
  | { readonly kind: 'data'; readonly data: InsightData; readonly samplingFactor: number | undefined }
  | Failure;

export interface InsightResultsOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /**
   * How long the database may work on one insight.
   * @default 10000
   */
  readonly timeLimitMs?: number;
  /**
   * Shared with all who ask questions of the database.
   * @default one at a time
   */
  readonly runInTurn?: Semaphore;
  /**
   * How long a request waits.
   * @default 10000
   */
  readonly waitMs?: number;
  /**
   * The same where there is an older result to show.
   * @default 2000
   */
  readonly newerWaitMs?: number;
  /** For tests. */
  readonly sizes?: Moment['sizes'];
}

/** Computes results, a few at a time, and keeps each for a while. */
export interface InsightResults {
  /**
   * The result over the events stored now, or a kept one. Whoever asks for the same at the same time gets the
   * same. A result that is not fresh any more is renewed, and shown itself when that takes long; where there is
   * none, `pending` is the reason that it failed. What the insight itself makes impossible is a failed result
   * as well, for the tile to show. It runs its own transactions, so it must not be called inside one. Any
   * number may be asked for at once: only a few are computed.
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
  runInTurn = createQuestionTurns(1),
  waitMs = WAIT_MS,
  newerWaitMs = WAIT_FOR_NEWER_MS,
  sizes = {},
}: InsightResultsOptions): InsightResults {
  const cache = createResultCache<Outcome>({
    keptMs: RESULT_KEPT_MS,
    maxCharacters: MAX_KEPT_CHARACTERS,
    now,
  });

  async function computeOutcome(
    db: Db,
    projectId: number,
    insight: StoredInsight,
    { dashboardFilters }: ComputeOptions,
  ): Promise<Made<Outcome>> {
    const madeAt = now();
    const value = await read();
    const endedAt = now();
    return {
      value,
      madeAt,
      freshUntil: madeAt + Math.max(RESULT_FRESH_MS, FRESH_FACTOR * (endedAt - madeAt)),
    };

    async function read(): Promise<Outcome> {
      try {
        const query = readInsight(insight, dashboardFilters);
        return {
          kind: 'data',
          data: await computeInsight(db, projectId, query, { now: madeAt, timeLimitMs, sizes }),
          samplingFactor: query.samplingFactor,
        };
      } catch (error) {
        return toFailure(error);
      }
    }
  }

  return {
    async compute(db, projectId, insight, options = {}) {
      const filtersHash = hashFilters(projectId, insight, options);
      const kept = cache.find(filtersHash);
      if (kept?.isFresh && !options.refresh) return toResult(kept, filtersHash, true);
      const isCached = cache.isMaking(filtersHash) && !options.refresh;
      const older = () =>
        kept ? toResult(kept, filtersHash, true) : { ...toFailure(pending()), filtersHash };
      if (!isCached && options.budget !== undefined && options.budget.startsLeft-- <= 0) return older();
      const make = () => runInTurn(() => computeOutcome(db, projectId, insight, options));
      const making = (options.refresh ? cache.renew : cache.join)(filtersHash, make);
      try {
        const isWanted = kept === undefined || options.refresh === true;
        const within = isWanted ? waitMs : newerWaitMs;
        return toResult(await withTimeout(making, within, pending), filtersHash, isCached);
      } catch (error) {
        if (error instanceof InsightError && error.reason === 'pending') return older();
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
  { value, madeAt, freshUntil }: Made<Outcome>,
  filtersHash: string,
  isCached: boolean,
): InsightResult {
  if (value.kind === 'failed') return { ...value, filtersHash };
  return {
    kind: 'computed',
    data: value.data,
    samplingFactor: value.samplingFactor,
    computedAt: new Date(madeAt).toISOString(),
    isCached,
    filtersHash,
    nextRefreshAt: new Date(freshUntil).toISOString(),
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
