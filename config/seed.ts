import { z } from 'zod';
import { flagSchema } from './flags.ts';

/** Definitions that the bundled API creates or updates at each start. */
export const seedSchema = z.strictObject({
  cohorts: z
    .array(
      z.strictObject({
        /** A cohort of this name is created, or updated. */
        name: z.string().min(1).max(400),
        description: z.string().max(10_000).default(''),
        /** Members are added through the API. */
        is_static: z.boolean().default(false),
        /** Filters of a dynamic cohort, in the form of the API. */
        filters: z.record(z.string(), z.unknown()).default({}),
      }),
    )
    .max(1000)
    .refine((cohorts) => new Set(cohorts.map(({ name }) => name)).size === cohorts.length, {
      error: 'two cohorts have the same name',
    })
    .default([]),
  /** Feature flags. Those that depend on another come after it. */
  flags: z
    .array(flagSchema)
    .max(1000)
    .refine((flags) => new Set(flags.map(({ key }) => key)).size === flags.length, {
      error: 'two flags have the same key',
    })
    .default([]),
});

export type Seed = z.infer<typeof seedSchema>;
export type SeedCohort = Seed['cohorts'][number];
