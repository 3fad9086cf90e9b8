import type { Db } from '../../../src/server/database/db.ts';
import type { JsonObject } from '../../../src/server/http/json.ts';
import type { InsightData } from '../../../src/server/insights/registry.ts';
import { createInsightResults, type InsightResult } from '../../../src/server/insights/results.ts';
import type { StoredInsight } from '../../../src/server/insights/store.ts';
import { createTestApi, type TestApi } from '../../support/api.ts';

/** A Wednesday; the week began on Sunday 7 January. */
export const NOW = '2024-01-10T12:00:00.000Z';

export interface Lab {
  readonly api: TestApi;
  /** The result of an insight over the project's events. */
  ask(filters: JsonObject, dashboardFilters?: JsonObject): Promise<InsightResult>;
  /** The same, of an insight that must be computed; `insight` tells which kind. */
  compute<K extends InsightData['insight']>(
    insight: K,
    filters: JsonObject,
    dashboardFilters?: JsonObject,
  ): Promise<ResultOf<K>>;
}

type ResultOf<K extends InsightData['insight']> = Extract<InsightData, { insight: K }>['result'];

/** A project of its own at noon of NOW; in the API of an earlier one, where that is given. */
export async function createLab(db: Db, earlier?: Lab): Promise<Lab> {
  const now = () => Date.parse(NOW);
  const api = await createTestApi(db, now, earlier?.api.app);
  // Nothing at once, and small steps: on the embedded database, where there are steps.
  const sizes = { atOnceMs: 0, firstBlocks: 1, factsAStep: 40, eventsForTwo: -1 };
  const results = createInsightResults({ now, waitMs: 600_000, sizes });
  const ask = (filters: JsonObject, dashboardFilters: JsonObject = {}) =>
    results.compute(db, api.project.id, storedInsight(filters), { dashboardFilters, refresh: true });
  return {
    api,
    ask,
    async compute<K extends InsightData['insight']>(
      insight: K,
      filters: JsonObject,
      dashboardFilters: JsonObject = {},
    ) {
      const result = await ask({ insight, ...filters }, dashboardFilters);
      if (result.kind === 'failed') throw new Error(`${result.reason}: ${result.message}`);
      if (result.data.insight !== insight)
        throw new Error(`asked for ${insight}, got ${result.data.insight}`);
      return result.data.result as ResultOf<K>;
    },
  };
}

/** An insight as the database would give it. */
export const storedInsight = (filters: JsonObject, query: JsonObject | null = null): StoredInsight => ({
  id: 1,
  projectId: 1,
  shortId: 'abcdefgh',
  name: null,
  derivedName: null,
  description: null,
  filters,
  query,
  tags: [],
  saved: false,
  favorited: false,
  deleted: false,
  isSample: false,
  timeZone: 'UTC',
  createdAt: NOW,
  createdBy: null,
  updatedAt: NOW,
  lastModifiedAt: NOW,
  lastModifiedBy: null,
});

/** `did('u1', '$pageview', '01-09 08:30', {…})`: an event of January 2024. */
export const did = (distinctId: string, event: string, time: string, properties: JsonObject = {}) => ({
  event,
  timestamp: `2024-${time.replace(' ', 'T')}:00.000Z`,
  properties: { distinct_id: distinctId, ...properties },
});
