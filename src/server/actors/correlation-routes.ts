import { z } from '@hono/zod-openapi';
import type { Db } from '../database/db.ts';
import { isJsonObject } from '../http/json.ts';
import { respondWithJson } from '../http/response.ts';
import {
  CORRELATION_PARAMETERS,
  type Correlation,
  type CorrelationFinder,
} from '../insights/correlation/compute.ts';
import { FUNNEL_PARAMETERS } from '../insights/funnel/actors.ts';
import { describeSampling, readSamplingFactor, samplingSchema } from '../insights/sampling.ts';
import { type Api, addRoute } from '../routing/route.ts';
import { toRefusal } from './refuse-invalid.ts';
import { asBody, asQuery, INSIGHT_PARAMETERS } from './schema.ts';

interface CorrelationDeps {
  readonly db: Db;
  readonly findCorrelations: CorrelationFinder;
  readonly now: () => number;
}

const PARAMETERS = { ...INSIGHT_PARAMETERS, ...FUNNEL_PARAMETERS, ...CORRELATION_PARAMETERS };

const correlationsSchema = z
  .object({
    result: z.object({
      events: z.array(
        z.object({
          event: z
            .string()
            .openapi({ description: 'Name, `property::value` of persons, or `event::property::value`.' }),
          success_count: z.int().openapi({ description: 'Persons who have it and reached the last step.' }),
          failure_count: z.int().openapi({ description: 'Persons who have it and did not.' }),
          odds_ratio: z.number(),
          odds_ratio_interval: z
            .array(z.number())
            .openapi({ description: 'Where the ratio is with a probability of 95%.' }),
          significant: z.boolean().openapi({ description: '1 is outside of the interval.' }),
          correlation_type: z.enum(['success', 'failure']),
        }),
      ),
      success_total: z.int(),
      failure_total: z.int(),
      skewed: z
        .boolean()
        .openapi({ description: 'One total is more than ten times the other: ratios say little.' }),
    }),
    sampling: samplingSchema.optional(),
    is_cached: z.boolean(),
    last_refresh: z.string(),
  })
  .openapi('FunnelCorrelation');

/** Beyond the contract, which has the lists of the persons alone (`persons/funnel/correlation/`). */
export function addCorrelationRoutes(api: Api, deps: CorrelationDeps): void {
  for (const method of ['get', 'post'] as const) {
    addRoute(
      api,
      {
        method,
        path: '/api/projects/:project_id/insights/funnel/correlation/',
        scopes: ['insight:read'],
        summary: 'What goes with converting in a funnel, and what goes against it',
        description:
          'Takes the filters of the funnel. Up to ten of each direction, strongest first; what fewer than 25 ' +
          'persons and 2% of all have is left out.',
        tag: 'Insights (beyond the contract)',
        query: z.object(asQuery(PARAMETERS)),
        ...(method === 'post' ? { body: z.object(asBody(PARAMETERS)) } : {}),
        responses: { 200: { description: 'Odds ratios.', schema: correlationsSchema } },
      },
      async ({ c, query, body }) => {
        const filters = { ...query, ...(isJsonObject(body) ? body : {}) };
        const askedAt = deps.now();
        try {
          const { found, successTotal, failureTotal, isSkewed } = await deps.findCorrelations(
            deps.db,
            c.get('project').id,
            filters,
          );
          return respondWithJson(c, {
            result: {
              events: found.map(render),
              success_total: successTotal,
              failure_total: failureTotal,
              skewed: isSkewed,
            },
            ...describeSampling(readSamplingFactor(filters)),
            is_cached: false,
            last_refresh: new Date(askedAt).toISOString(),
          });
        } catch (error) {
          throw toRefusal(error);
        }
      },
    );
  }
}

const render = ({ name, success, failure, ratio, interval, isSignificant, direction }: Correlation) => ({
  event: name,
  success_count: success,
  failure_count: failure,
  odds_ratio: ratio,
  odds_ratio_interval: [...interval],
  significant: isSignificant,
  correlation_type: direction,
});
