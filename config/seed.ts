import { z } from 'zod';

/** What the bundled API has from its start, beside what comes in through its endpoints. */
export const seedSchema = z.strictObject({
  cohorts: z
    .array(
      z.strictObject({
        /** Which cohort is meant: one of this name is made, or made to fit. */
        name: z.string().min(1).max(400),
        description: z.string().max(10_000).default(''),
        /** Members are put in through the API. */
        is_static: z.boolean().default(false),
        /** As the API takes them; of a dynamic one. */
        filters: z.record(z.string(), z.unknown()).default({}),
      }),
    )
    .max(1000)
    .refine((cohorts) => new Set(cohorts.map(({ name }) => name)).size === cohorts.length, {
      error: 'two cohorts have the same name',
    })
    .default([]),
});

export type Seed = z.infer<typeof seedSchema>;
export type SeedCohort = Seed['cohorts'][number];
