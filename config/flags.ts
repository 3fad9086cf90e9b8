import { z } from 'zod';
import { didYouMean } from '../src/lib/suggest.ts';

/** Definitions of feature flags, in the form of the service's API. */

const MAX_CONDITIONS = 100;
const MAX_VARIANTS = 100;
const MAX_PROPERTIES = 200;
const MAX_PAYLOAD_CHARACTERS = 100_000;

/** An object of these fields alone: a mistyped name would be left out, and a flag be on for everybody. */
export const strict = <S extends z.ZodRawShape>(shape: S) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `Unknown field "${key}"${didYouMean(key, Object.keys(shape))}`).join(' ')
        : undefined,
  });

const ignored = z.unknown().optional().describe('Kept, and without effect.');

/**
 * Fields that the service and its clients write, and that have no effect on who gets what. Those of the flag
 * itself are accepted by the API, because clients send back what they have read, and are not stored.
 */
export const WITHOUT_EFFECT = {
  flag: {
    id: ignored,
    team_id: ignored,
    project_id: ignored,
    created_by: ignored,
    created_at: ignored,
    updated_at: ignored,
    last_modified_by: ignored,
    last_called_at: ignored,
    is_simple_flag: ignored,
    rollout_percentage: ignored,
    experiment_set: ignored,
    experiment_set_metadata: ignored,
    surveys: ignored,
    features: ignored,
    rollback_conditions: ignored,
    performed_rollback: ignored,
    can_edit: ignored,
    user_access_level: ignored,
    tags: ignored,
    evaluation_tags: ignored,
    evaluation_contexts: ignored,
    evaluation_runtime: ignored,
    usage_dashboard: ignored,
    analytics_dashboards: ignored,
    has_enriched_analytics: ignored,
    has_encrypted_payloads: ignored,
    is_remote_configuration: ignored,
    is_used_in_replay_settings: ignored,
    status: ignored,
    creation_context: ignored,
    should_create_usage_dashboard: ignored,
    _should_create_usage_dashboard: ignored,
    _create_in_folder: ignored,
  },
  condition: { description: ignored, sort_key: ignored, users_affected: ignored },
  variant: { description: ignored },
  property: { label: ignored, cohort_name: ignored, group_key_names: ignored, dependency_chain: ignored },
} as const;

const percentage = z
  .number({ error: 'Must be a number from 0 to 100.' })
  .min(0, 'Must be a number from 0 to 100.')
  .max(100, 'Must be a number from 0 to 100.');

const groupTypeIndex = z.int().min(0).max(4).nullish();

/** A filter of the API; the server reads it (`parse-flag.ts`). */
const property = strict({
  key: z.union([z.string(), z.number()]).describe('A property; `id` for a cohort; key or id of a flag.'),
  type: z.enum(['person', 'group', 'cohort', 'flag']).optional(),
  operator: z.string().nullish().describe('As in filters of persons; `flag_evaluates_to` for a flag.'),
  value: z.unknown(),
  group_type_index: z.union([z.int(), z.string()]).nullish().describe('Whose property, for groups.'),
  negation: z.boolean().nullish().describe('The opposite must hold.'),
  ...WITHOUT_EFFECT.property,
});

const condition = strict({
  properties: z.array(property).max(MAX_PROPERTIES).nullish().describe('All must hold. None: everybody.'),
  rollout_percentage: percentage.nullish().describe('Share of those who match. Unset: all of them.'),
  variant: z.string().nullish().describe('The variant that all who match get. Unset: by the shares.'),
  aggregation_group_type_index: groupTypeIndex.describe('That of the flag, where it is repeated.'),
  ...WITHOUT_EFFECT.condition,
});

const variant = strict({
  key: z.string().min(1).max(400),
  name: z.string().max(400).nullish(),
  rollout_percentage: percentage.describe('The percentages of all variants add up to 100.'),
  ...WITHOUT_EFFECT.variant,
});

export const flagFiltersSchema = strict({
  groups: z
    .array(condition)
    .max(MAX_CONDITIONS)
    .nullish()
    .describe('Conditions: the first that matches decides, those with a variant before the others.'),
  multivariate: strict({ variants: z.array(variant).max(MAX_VARIANTS) }).nullish(),
  payloads: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('What clients get along: JSON text, by the key of a variant, or `true`.')
    .refine(
      (payloads) =>
        Object.values(payloads ?? {}).every(
          (one) => (JSON.stringify(one) ?? '').length <= MAX_PAYLOAD_CHARACTERS,
        ),
      { error: `a payload has at most ${MAX_PAYLOAD_CHARACTERS} characters` },
    ),
  aggregation_group_type_index: groupTypeIndex.describe(
    'Decided for groups of this type. Unset: for persons.',
  ),
  super_groups: z
    .array(condition)
    .max(1)
    .nullish()
    .describe('Early access: decides alone about everybody who has its property.'),
  feature_enrollment: z.boolean().nullish().describe('Early access, in the newer form.'),
  holdout_groups: z.array(condition).max(1).nullish().describe('A share that is kept out of experiments.'),
  holdout: strict({ id: z.union([z.int(), z.string()]), exclusion_percentage: percentage })
    .nullish()
    .describe('The same in the newer form.'),
  early_exit: z
    .literal(false, { error: 'It cannot be expressed: conditions are asked until one matches.' })
    .nullish()
    .describe('Conditions are always asked until one matches.'),
  // Definitions older than conditions.
  properties: z.array(property).max(MAX_PROPERTIES).nullish().describe('The one condition of an old flag.'),
  rollout_percentage: percentage.nullish().describe('Its share.'),
});

export type FlagFilters = z.infer<typeof flagFiltersSchema>;

export const flagKeySchema = z
  .string()
  .min(1)
  .max(400)
  .regex(/^[\w-]+$/, 'Only letters, numbers, hyphens (-) & underscores (_) are allowed.');

/** A flag of a seed file. */
export const flagSchema = strict({
  key: flagKeySchema.describe('A flag of this key is created, or updated.'),
  name: z.string().max(10_000).default('').describe('What it is for.'),
  active: z.boolean().default(true),
  ensure_experience_continuity: z
    .boolean()
    .default(false)
    .describe('A person keeps the value that it got before it was identified.'),
  filters: flagFiltersSchema.default({}),
});

export type SeedFlag = z.infer<typeof flagSchema>;
