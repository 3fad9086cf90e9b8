import { z } from '@hono/zod-openapi';
import { userSchema } from '../../auth/users.ts';
import { booleanField, boundedObject, textField } from '../../http/fields.ts';
import { pageQuery } from '../../http/paging.ts';
import { tagsField } from '../../http/tags.ts';
import { samplingSchema } from '../../insights/sampling.ts';
import { MAX_NAME } from '../../insights/store.ts';

const MAX_DESCRIPTION = 10_000;
const MAX_FILTERS = 100_000;

const writable = {
  name: textField(MAX_NAME).nullable().optional(),
  derived_name: textField(MAX_NAME).nullable().optional(),
  description: textField(MAX_DESCRIPTION).nullable().optional(),
  filters: boundedObject(MAX_FILTERS)
    .optional()
    .openapi({ description: 'What it asks, for example `{"insight": "TRENDS", "events": […]}`.' }),
  query: boundedObject(MAX_FILTERS)
    .nullable()
    .optional()
    .openapi({ description: 'The same as a newer query object (`InsightVizNode`); goes before `filters`.' }),
  tags: tagsField().optional(),
  saved: booleanField().optional(),
};

export const newInsightSchema = z.object(writable);

export const changedInsightSchema = z.object({
  ...writable,
  favorited: booleanField().optional(),
  deleted: booleanField().optional(),
});
export type ChangedInsightBody = z.infer<typeof changedInsightSchema>;

export const listQuery = pageQuery.extend({
  short_id: z.string().optional(),
  saved: booleanField().optional(),
  search: z.string().optional().openapi({ description: 'Part of the name or description, in any case.' }),
});

export const computedQuery = z.object({
  refresh: booleanField().optional().openapi({ description: 'Computes the result again.' }),
});

export const insightSchema = z
  .object({
    id: z.int(),
    short_id: z.string(),
    name: z.string().nullable(),
    derived_name: z.string().nullable(),
    description: z.string().nullable(),
    filters: z.record(z.string(), z.unknown()),
    query: z.record(z.string(), z.unknown()).nullable(),
    dashboards: z.array(z.int()),
    dashboard_tiles: z.array(z.object({ id: z.int(), dashboard_id: z.int(), deleted: z.boolean() })),
    order: z.int().nullable(),
    deleted: z.boolean(),
    last_refresh: z.string().nullable(),
    is_cached: z.boolean(),
    result: z.unknown(),
    sampling: samplingSchema.optional(),
    created_at: z.string(),
    created_by: userSchema.nullable(),
    updated_at: z.string(),
    favorited: z.boolean(),
    tags: z.array(z.string()),
    saved: z.boolean(),
    last_modified_at: z.string(),
    last_modified_by: userSchema.nullable(),
    is_sample: z.boolean(),
    effective_restriction_level: z.int(),
    effective_privilege_level: z.int(),
    timezone: z.string(),
    filters_hash: z.string().nullable(),
    next_allowed_client_refresh: z.string().nullable(),
    error: z
      .object({ type: z.string(), message: z.string() })
      .optional()
      .openapi({ description: 'Why there is no result.' }),
  })
  .openapi('Insight');
