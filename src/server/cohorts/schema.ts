import { z } from '@hono/zod-openapi';
import { userSchema } from '../auth/users.ts';
import { formQuery } from '../http/content-negotiation.ts';
import { booleanField, objectField, textField } from '../http/fields.ts';

export const cohortSchema = z
  .object({
    id: z.int(),
    name: z.string().nullable(),
    description: z.string(),
    groups: z.array(z.unknown()),
    deleted: z.boolean(),
    filters: z.record(z.string(), z.unknown()),
    query: z.null(),
    is_calculating: z.boolean(),
    created_by: userSchema.nullable(),
    created_at: z.string(),
    last_calculation: z.string().nullable(),
    errors_calculating: z.int(),
    count: z.int().nullable().openapi({ description: 'Members at `last_calculation`.' }),
    is_static: z.boolean(),
  })
  .openapi('Cohort');

export type CohortBody = z.infer<typeof cohortSchema>;

export const personCohortsSchema = z.object({ results: z.array(cohortSchema) });

/** The service's own limit of names. */
const MAX_NAME_LENGTH = 400;
const MAX_DESCRIPTION_LENGTH = 10_000;
const MAX_GROUPS = 100;

const writable = {
  name: textField(MAX_NAME_LENGTH).nullable().optional(),
  description: textField(MAX_DESCRIPTION_LENGTH).optional(),
  filters: objectField('Filters must be a dictionary.')
    .optional()
    .openapi({
      description:
        '`{"properties": {"type": "OR", "values": […]}}`: properties of persons, other cohorts (`type: "cohort"`) ' +
        'and events that somebody did (`type: "behavioral"`, `performed_event` or `performed_event_multiple`).',
    }),
  groups: z
    .array(objectField())
    .max(MAX_GROUPS)
    .optional()
    .openapi({ description: 'The older form of `filters`: lists of `properties`, one of which holds.' }),
  query: z
    .custom<null>((value) => value === null, 'Cohorts that a query defines are not supported.')
    .optional()
    .openapi({ type: 'null' }),
};

export const newCohortSchema = z.object({ ...writable, is_static: booleanField().optional() });
export type NewCohortBody = z.infer<typeof newCohortSchema>;

export const changedCohortSchema = z.object({
  ...writable,
  is_static: booleanField().optional().openapi({ description: 'Cannot change.' }),
  deleted: booleanField().optional(),
});
export type ChangedCohortBody = z.infer<typeof changedCohortSchema>;

export const MAX_MEMBERS = 10_000;

/** Persons by number or uuid, or by any of their distinct ids. */
export const membersSchema = z.object({
  person_ids: z
    .array(z.union([z.int(), z.string()]))
    .max(MAX_MEMBERS)
    .optional()
    .openapi({ description: 'Integers or uuids.' }),
  distinct_ids: z.array(z.string()).max(MAX_MEMBERS).optional(),
});
export type MembersBody = z.infer<typeof membersSchema>;

export const personCohortsQuery = formQuery.extend({
  person_id: z.string().min(1).openapi({ description: 'Integer or uuid.' }),
});
