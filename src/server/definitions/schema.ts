import { z } from '@hono/zod-openapi';
import { userSchema } from '../auth/users.ts';
import { booleanField, integerField, textField } from '../http/fields.ts';
import { pageQuery } from '../http/paging.ts';
import { tagsField } from '../http/tags.ts';
import type { DefinitionFilter, DefinitionOrder } from './store.ts';

export const definitionSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    owner: userSchema.nullable(),
    description: z.string(),
    tags: z.array(z.string()),
    created_at: z.string(),
    created_by: userSchema.nullable(),
    updated_at: z.string().nullable(),
    updated_by: userSchema.nullable(),
    last_seen_at: z.string(),
    last_updated_at: z.string().nullable(),
    verified: z.boolean(),
    verified_at: z.string().nullable(),
    verified_by: userSchema.nullable(),
    is_action: z.literal(false),
    action_id: z.null(),
    is_calculating: z.literal(false),
    last_calculated_at: z.null(),
    post_to_slack: z.boolean(),
  })
  .openapi('EventDefinition');

export type DefinitionBody = z.infer<typeof definitionSchema>;

export const definitionsQuery = pageQuery.extend({
  search: z
    .string()
    .optional()
    .openapi({ description: 'Words that the name holds, all of them, in any case.' }),
  event_type: z.string().optional().openapi({
    description:
      '`event_custom`: names that do not begin with `$`; `event_posthog`: those that do; else all.',
  }),
  ordering: z.string().optional().openapi({
    description: '`name` or `last_seen_at`, with `-` for the other way round (default `-last_seen_at`).',
  }),
});

const MAX_DESCRIPTION_LENGTH = 10_000;

/** What a client may change; what else it sends back, such as a whole definition, is ignored. */
export const changedDefinitionSchema = z.object({
  description: textField(MAX_DESCRIPTION_LENGTH).nullable().optional(),
  tags: tagsField().optional(),
  owner: integerField().nullable().optional().openapi({ description: 'Id of a user.' }),
  verified: booleanField().optional(),
  post_to_slack: booleanField().optional(),
});
export type ChangedDefinition = z.infer<typeof changedDefinitionSchema>;

const ORDERS: readonly DefinitionOrder[] = ['name', '-name', 'last_seen_at', '-last_seen_at'];
/** More words than this narrow nothing. */
const MAX_WORDS = 20;

/** What is not known counts as not given, as in every list of the service. */
export function parseDefinitionsQuery(query: {
  readonly search?: string | undefined;
  readonly event_type?: string | undefined;
  readonly ordering?: string | undefined;
}): DefinitionFilter {
  const words = (query.search ?? '').split(/\s+/).filter((word) => word !== '');
  return {
    words: words.slice(0, MAX_WORDS),
    kind:
      query.event_type === 'event_custom' ? 'custom' : query.event_type === 'event_posthog' ? 'own' : 'all',
    order: ORDERS.find((order) => order === query.ordering) ?? '-last_seen_at',
  };
}
