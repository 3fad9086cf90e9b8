import { z } from '@hono/zod-openapi';
import { type User, userSchema } from '../auth/users.ts';
import { paged, pageQuery } from '../http/paging.ts';
import { DELETION_STATES, type StoredDeletion } from './store.ts';

export const deletionQuery = pageQuery.extend({
  state: z
    .enum([...DELETION_STATES, 'open'])
    .optional()
    .openapi({ description: '`open`: queued or started. Left out: all.' }),
});

export const deletionSchema = z
  .object({
    id: z.int(),
    project_id: z.int(),
    person_uuid: z.uuid().openapi({ description: 'The person, who is gone already.' }),
    distinct_id_count: z.int().openapi({ description: 'Ids whose events go.' }),
    state: z.enum(DELETION_STATES).openapi({
      description:
        '`queued` until a run takes it up, `started` until none of its events is left, then `verified`.',
    }),
    created_by: userSchema.nullable(),
    created_at: z.string().openapi({ description: 'Events that came in later stay.' }),
    started_at: z.string().nullable(),
    deleted_events: z.int(),
    verified_at: z.string().nullable(),
    last_error: z.string().nullable().openapi({ description: 'Why the last try failed; it is tried again.' }),
  })
  .openapi('Deletion');

export const deletionPageSchema = paged(deletionSchema).extend({
  deleted_events: z.int().openapi({ description: 'Of all deletions that match, on any page.' }),
});

export const runSchema = z
  .object({
    job_id: z.string(),
    state: z.enum(['waiting', 'active', 'retrying', 'completed', 'failed']),
    reason: z
      .string()
      .nullable()
      .openapi({ description: 'Why its last attempt failed, or what it waits for.' }),
  })
  .openapi('DeletionRun');

export function renderDeletion(
  deletion: StoredDeletion,
  users: ReadonlyMap<number, User>,
): z.infer<typeof deletionSchema> {
  const { startedAt, verifiedAt, createdBy } = deletion;
  return {
    id: deletion.id,
    project_id: deletion.projectId,
    person_uuid: deletion.personUuid,
    distinct_id_count: deletion.distinctIdCount,
    state: verifiedAt !== null ? 'verified' : startedAt !== null ? 'started' : 'queued',
    created_by: (createdBy === null ? undefined : users.get(createdBy)) ?? null,
    created_at: deletion.createdAt,
    started_at: startedAt,
    deleted_events: deletion.deletedEvents,
    verified_at: verifiedAt,
    last_error: deletion.lastError,
  };
}
