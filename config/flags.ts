import { z } from 'zod';

/** Definitions of feature flags, in the form of the service's API. */

const MAX_CONDITIONS = 100;
const MAX_VARIANTS = 100;
const MAX_PROPERTIES = 200;
const MAX_PAYLOAD_CHARACTERS = 100_000;

const percentage = z.number().min(0).max(100);

/** A filter of the API; the server reads it (`parse-flag.ts`). */
const property = z.looseObject({
  key: z.union([z.string(), z.number()]).describe('A property; `id` for a cohort; key or id of a flag.'),
  type: z.enum(['person', 'group', 'cohort', 'flag']).optional(),
  operator: z.string().nullish().describe('As in filters of persons; `flag_evaluates_to` for a flag.'),
  value: z.unknown(),
});

const condition = z.object({
  properties: z.array(property).max(MAX_PROPERTIES).nullish().describe('All must hold. None: everybody.'),
  rollout_percentage: percentage.nullish().describe('Share of those who match. Unset: all of them.'),
  variant: z.string().nullish().describe('The variant that all who match get. Unset: by the shares.'),
});

const variant = z.object({
  key: z.string().min(1).max(400),
  name: z.string().max(400).nullish(),
  rollout_percentage: percentage.describe('The percentages of all variants add up to 100.'),
});

export const flagFiltersSchema = z.object({
  groups: z
    .array(condition)
    .max(MAX_CONDITIONS)
    .nullish()
    .describe('Conditions: the first that matches decides, those with a variant before the others.'),
  multivariate: z.object({ variants: z.array(variant).max(MAX_VARIANTS) }).nullish(),
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
  aggregation_group_type_index: z
    .int()
    .min(0)
    .max(4)
    .nullish()
    .describe('Decided for groups of this type. Unset: for persons.'),
  super_groups: z
    .array(condition)
    .max(1)
    .nullish()
    .describe('Early access: decides alone about everybody who has its property.'),
  feature_enrollment: z.boolean().nullish().describe('Early access, in the newer form.'),
  holdout_groups: z.array(condition).max(1).nullish().describe('A share that is kept out of experiments.'),
  holdout: z
    .object({ id: z.union([z.int(), z.string()]), exclusion_percentage: percentage })
    .nullish()
    .describe('The same in the newer form.'),
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
export const flagSchema = z.strictObject({
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
