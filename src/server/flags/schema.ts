import { z } from '@hono/zod-openapi';
import { flagFiltersSchema, flagKeySchema, strict, WITHOUT_EFFECT } from '../../../config/flags.ts';
import { userSchema } from '../auth/users.ts';
import { booleanField, textField } from '../http/fields.ts';

// It is made before zod learns of OpenAPI, so it cannot be given a name of its own in the document.
const filters = flagFiltersSchema;

export const featureFlagSchema = z
  .object({
    id: z.int(),
    key: z.string(),
    name: z.string(),
    filters: z.record(z.string(), z.unknown()),
    active: z.boolean(),
    deleted: z.boolean(),
    ensure_experience_continuity: z.boolean(),
    version: z.int().openapi({ description: 'Counts changes.' }),
    created_by: userSchema.nullable(),
    created_at: z.string(),
    updated_at: z.string(),
    is_simple_flag: z.boolean().openapi({ description: 'Whether it asks nobody for anything but a share.' }),
    rollout_percentage: z.number().nullable(),
  })
  .openapi('FeatureFlag');

export type FeatureFlagBody = z.infer<typeof featureFlagSchema>;

const MAX_NAME_LENGTH = 10_000;

const writable = {
  name: textField(MAX_NAME_LENGTH).optional(),
  filters: filters.optional(),
  active: booleanField().optional(),
  ensure_experience_continuity: booleanField().nullable().optional(),
  bucketing_identifier: z
    .literal('distinct_id')
    .nullish()
    .openapi({ description: 'Shares are of distinct ids, not of devices.' }),
  ...WITHOUT_EFFECT.flag,
};

export const newFlagSchema = strict({
  key: flagKeySchema,
  ...writable,
  deleted: z.literal(false).nullish(),
  version: z.int().nullish().openapi({ description: 'Not read.' }),
});
export type NewFlagBody = z.infer<typeof newFlagSchema>;

export const changedFlagSchema = strict({
  key: flagKeySchema.optional(),
  ...writable,
  deleted: booleanField().optional(),
  version: z
    .int()
    .optional()
    .openapi({ description: 'The version that was changed: a later one is not overwritten (409).' }),
});
export type ChangedFlagBody = z.infer<typeof changedFlagSchema>;

const properties = z.record(z.string(), z.unknown());

/** As clients ask for decisions. */
export const testSchema = z.object({
  distinct_id: z.union([z.string(), z.number()]),
  groups: z.record(z.string(), z.unknown()).optional().openapi({ description: 'Keys of groups by type.' }),
  person_properties: properties.optional().openapi({ description: 'Replace stored ones.' }),
  group_properties: z.record(z.string(), properties).optional(),
});

const explainedCondition = z.object({
  condition: z.int().openapi({ description: 'From 1, as it is written.' }),
  outcome: z.enum(['match', 'no_match', 'out_of_rollout', 'failed', 'not_asked']),
  rollout_at: z.number().openapi({ description: 'In where it is at most `rollout`.' }),
  rollout: z.number(),
  variant: z.string().nullable(),
  properties: z.array(
    z.object({
      asks: z.string(),
      passes: z.boolean(),
      value: z.unknown(),
      from: z.enum(['request', 'stored', 'nowhere']).nullable(),
      cohort: z
        .object({ id: z.int(), name: z.string().nullable(), is_member: z.boolean() })
        .nullable()
        .openapi({ description: 'Where one cohort is asked for.' }),
    }),
  ),
});

export const explanationSchema = z
  .object({
    key: z.string(),
    value: z.union([z.boolean(), z.string()]).nullable().openapi({ description: 'Null: not decided.' }),
    payload: z.string().nullable(),
    reason: z.string().openapi({ description: 'Why, or why it could not be decided.' }),
    identifier: z.string().nullable().openapi({ description: 'What is hashed.' }),
    variant_at: z.number().nullable().openapi({ description: 'Place among the variants, 0 to 1.' }),
    early_access: explainedCondition
      .nullable()
      .openapi({ description: 'Decides first, about everybody who has its property.' }),
    conditions: z.array(explainedCondition),
  })
  .openapi('FeatureFlagExplanation');

export type ExplanationBody = z.infer<typeof explanationSchema>;

const keys = z.array(z.string());

export const takeoverSchema = z
  .object({
    created: keys,
    changed: keys,
    unchanged: keys,
    refused: z
      .array(z.object({ key: z.string(), why: z.string() }))
      .openapi({ description: 'What cannot be expressed here.' }),
    notes: z
      .array(z.object({ key: z.string(), note: z.string() }))
      .openapi({ description: 'What has no effect here.' }),
  })
  .openapi('FeatureFlagTakeover');
