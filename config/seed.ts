import { z } from 'zod';
import { flagSchema } from './flags.ts';

/** Definitions that the bundled API creates or updates at each start. */
export const seedSchema = z.strictObject({
  $schema: z.string().optional().describe('For editors: address of the JSON Schema of seed files.'),
  cohorts: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(400).describe('A cohort of this name is created, or updated.'),
        description: z.string().max(10_000).default('').describe('What it is for.'),
        is_static: z.boolean().default(false).describe('Its members are added through the API.'),
        filters: z
          .record(z.string(), z.unknown())
          .default({})
          .describe('Filters of a dynamic cohort, in the form of the API.'),
      }),
    )
    .max(1000)
    .refine((cohorts) => new Set(cohorts.map(({ name }) => name)).size === cohorts.length, {
      error: 'two cohorts have the same name',
    })
    .default([])
    .describe('Sets of persons.'),
  flags: z
    .array(flagSchema)
    .max(1000)
    .refine((flags) => new Set(flags.map(({ key }) => key)).size === flags.length, {
      error: 'two flags have the same key',
    })
    .default([])
    .describe('Feature flags. Those that depend on another come after it.'),
});

/** The JSON Schema of seed files, for editors: config/seed.schema.json. */
export function createSeedJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(seedSchema, { io: 'input' });
  return { $schema, title: 'Backhaul seed', ...schema };
}

export type Seed = z.infer<typeof seedSchema>;
export type SeedCohort = Seed['cohorts'][number];
