import { z } from '@hono/zod-openapi';
import { errorSchema } from '../../http/errors.ts';
import type { Api } from '../../routing/route.ts';

const properties = z.record(z.string(), z.unknown());

const requestSchema = z
  .object({
    api_key: z.string().openapi({ description: 'The project API key.', example: 'phc_…' }),
    distinct_id: z.string().openapi({ description: 'Whose flags are asked for.' }),
    groups: z.record(z.string(), z.string()).optional().openapi({ description: 'Keys of groups by type.' }),
    person_properties: properties
      .optional()
      .openapi({ description: 'Replace stored properties of the person.' }),
    group_properties: z
      .record(z.string(), properties)
      .optional()
      .openapi({ description: 'Replace stored properties of groups, by type.' }),
    $anon_distinct_id: z
      .string()
      .optional()
      .openapi({ description: 'The id before the person was identified.' }),
    flag_keys_to_evaluate: z.array(z.string()).optional(),
    geoip_disable: z.boolean().optional(),
    disable_flags: z.boolean().optional().openapi({ description: 'Only the configuration is asked for.' }),
  })
  .openapi('DecideRequest');

const answerSchema = z
  .object({
    config: z.object({ enable_collect_everything: z.boolean() }),
    toolbarParams: z.record(z.string(), z.unknown()),
    isAuthenticated: z.boolean(),
    supportedCompression: z.array(z.string()),
    featureFlags: z
      .record(z.string(), z.union([z.boolean(), z.string()]))
      .openapi({ description: 'In version 3; version 2 has only those that are on, version 1 their keys.' }),
    featureFlagPayloads: z.record(z.string(), z.string()),
    errorComputingFlags: z
      .boolean()
      .openapi({ description: 'Some flags could not be decided, and are left out.' }),
    errorsWhileComputingFlags: z.boolean().openapi({ description: 'The same, as clients call it.' }),
  })
  .openapi('Decisions');

const ERRORS = {
  400: 'The request cannot be read, or is about nobody.',
  401: 'No project API key, or one that no project has.',
  413: 'The body is too large.',
  429: 'Too much is under way; `Retry-After` says when to come again.',
  503: 'The database is away, and the project has not asked before.',
};

/** Registers documentation alone: decisions read their bodies themselves. */
export function describeDecide({ app }: Pick<Api, 'app'>): void {
  app.openAPIRegistry.registerPath({
    method: 'post',
    path: '/decide',
    operationId: 'post_decide',
    summary: 'Decide the feature flags of somebody',
    description:
      'In every encoding that ingestion takes. `/flags/?v=2` answers in the shape of version 4. The header ' +
      '`HTTP_X_FORWARDED_FOR` may carry the address of the visitor, from which `$geoip_…` properties follow.',
    tags: ['Feature flags'],
    security: [],
    request: {
      query: z.object({
        v: z.string().optional().openapi({ description: 'The shape of the answer, 1 to 4.', example: '3' }),
      }),
      body: { required: true, content: { 'application/json': { schema: requestSchema } } },
    },
    responses: {
      200: {
        description: 'The flags, and the configuration of clients.',
        content: { 'application/json': { schema: answerSchema } },
      },
      ...Object.fromEntries(
        Object.entries(ERRORS).map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: errorSchema } } },
        ]),
      ),
    },
  });
}
