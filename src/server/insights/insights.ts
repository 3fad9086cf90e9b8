import { createHash } from 'node:crypto';
import { createSemaphore } from '../../lib/async/semaphore.ts';
import { stringifyJson } from '../../lib/json/stringify-json.ts';
import type { Db } from '../database/db.ts';
import { INSIGHT_STYLES } from './charts/styles.ts';
import { computeInsight } from './compute-insight.ts';
import { InsightError, tooManyAtOnce } from './insight-error.ts';
import {
  type ComputeOptions,
  type FailedInsight,
  type InsightResult,
  type Insights,
  RESULT_KEPT_MS,
  type StoredInsight,
} from './insight-port.ts';
import type { InsightData } from './insight-results.ts';
import { readInsight } from './read-insight.ts';
import { renderInsight } from './render-insight.ts';
import { createResultCache } from './result-cache.ts';
import { copyInsight, loadInsights, markDeleted, saveInsight } from './store.ts';

const TIME_LIMIT_MS = 10_000;
/** Fewer than the database has connections, so that events still come in while people look at dashboards. */
const MAX_COMPUTING = 3;
const MAX_WAITING = 300;
const MAX_KEPT_CHARACTERS = 16_000_000;

type Failure = Omit<FailedInsight, 'filtersHash'>;
type Outcome = { readonly kind: 'data'; readonly data: InsightData } | Failure;

export interface InsightsDeps {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** How long the database may work on one insight; left out: 10 s. */
  readonly timeLimitMs?: number;
}

/** The one implementation of what insights offer. */
export function createInsights({ now, timeLimitMs = TIME_LIMIT_MS }: InsightsDeps): Insights {
  const cache = createResultCache<Outcome>({
    keptMs: RESULT_KEPT_MS,
    maxCharacters: MAX_KEPT_CHARACTERS,
    now,
  });
  const inTurn = createSemaphore(MAX_COMPUTING, MAX_WAITING, tooManyAtOnce);

  async function outcomeOf(
    db: Db,
    projectId: number,
    insight: StoredInsight,
    { dashboardFilters }: ComputeOptions,
  ): Promise<Outcome> {
    try {
      const query = readInsight(insight, dashboardFilters);
      return { kind: 'data', data: await computeInsight(db, projectId, query, { now: now(), timeLimitMs }) };
    } catch (error) {
      return failureOf(error);
    }
  }

  return {
    create: async (tx, projectId, userId, wanted) => (await saveInsight(tx, projectId, userId, wanted)).id,
    duplicate: copyInsight,
    setDeleted: markDeleted,
    load: loadInsights,
    render: createRenderer(),
    styles: INSIGHT_STYLES,
    async compute(db, projectId, insight, options = {}) {
      const filtersHash = hashOf(projectId, insight, options);
      const make = () => inTurn(() => outcomeOf(db, projectId, insight, options));
      try {
        const made = await (options.refresh ? cache.renew : cache.get)(filtersHash, make);
        return resultOf(made, filtersHash);
      } catch (error) {
        return { ...failureOf(error), filtersHash };
      }
    },
  };
}

/** Renders each result once for as long as it is kept: it is the same object to everybody who looks. */
function createRenderer(): Insights['render'] {
  const rendered = new WeakMap<InsightData, string>();
  return (result) => {
    if (result.kind === 'failed') return renderInsight(result);
    const text = rendered.get(result.data) ?? renderInsight(result);
    rendered.set(result.data, text);
    return text;
  };
}

/** Anything but an InsightError is a fault of ours or of the database. */
function failureOf(error: unknown): Failure {
  if (error instanceof InsightError) return { kind: 'failed', reason: error.reason, message: error.message };
  throw error;
}

function resultOf(
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

function hashOf(
  projectId: number,
  { filters, query }: StoredInsight,
  { dashboardFilters }: ComputeOptions,
): string {
  const asked = stringifyJson({ projectId, filters, query, dashboardFilters: dashboardFilters ?? {} });
  return createHash('sha256').update(asked).digest('hex').slice(0, 32);
}
