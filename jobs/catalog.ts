import { z } from 'zod';
import { packing, partMeta } from '../src/contract/part.ts';
import { slice } from '../src/contract/slice.ts';
import { LEDGER_FORMAT } from '../src/state/ledger/keyed-hash.ts';

/**
 * Every job there is: its payload and how it is retried. Producer and worker both import this.
 * A payload names things and carries none: no record, no secret (I10).
 */
const ofEpoch = {
  /** Name of the migration, and so its folder in staging. */
  migration: z.string(),
  /** Of the migration: of several installations with one Redis, each may have one of that name. */
  id: z.string(),
  /** The epoch the job belongs to; a job of an older one stops before it acts (I5). */
  epoch: z.number().int().positive(),
};

/** A range of buckets in one turn of the migration at its ledger. */
const buckets = {
  turn: z.number().int().positive(),
  from: z.number().int().nonnegative(),
  to: z.number().int().positive(),
};

/** The name is in the record of the migration: with it, those of a whole group would be a megabyte. */
const changedMember = slice.pick({ fileId: true, bytes: true, modified: true });
export type ChangedMember = z.infer<typeof changedMember>;

export const payloads = {
  'stage-file': z.strictObject({ ...ofEpoch, fileId: z.string(), packing }),
  'stage-slice': z.strictObject({
    ...ofEpoch,
    packing,
    slice: slice.extend({ location: z.literal('shared') }),
    /** Members of a group that are not as the migration recorded them: what was found now. */
    changed: z.array(changedMember).exactOptional(),
  }),
  'import-part': z.strictObject({ ...ofEpoch, part: partMeta }),
  'resolve-people': z.strictObject({ ...ofEpoch, ...buckets }),
  'merge-people': z.strictObject({ ...ofEpoch, ...buckets }),
  'fold-people': z.strictObject({ ...ofEpoch, ...buckets }),
  /** What is to be deleted is in the API's database. */
  'delete-events': z.strictObject({
    because: z.enum(['scheduled', 'asked', 'overdue']),
    /** Only of these. @default every project */
    projectIds: z.array(z.number().int()).exactOptional(),
  }),
  /** When it is due, and what was taken in, is in staging. */
  'run-schedule': z.strictObject({ migration: z.string() }),
} as const;

export type JobName = keyof typeof payloads;
/** Jobs that a producer offers. */
export type MigrationJob = Exclude<JobName, 'delete-events' | 'run-schedule'>;
export type Payload<N extends JobName> = z.infer<(typeof payloads)[N]>;

/** What a finished job returns; its results are in staging. */
export type JobResult =
  | { readonly kind: 'done' }
  /** The migration is stopped, paused or cancelled, or a newer writer holds the work. Not a failure. */
  | { readonly kind: 'handed_back'; readonly why: string };

/** An unexpected error is tried this often; what is down elsewhere is tried for ever. */
export const UNEXPECTED_ATTEMPTS = 3;

export const retryPolicy = {
  attempts: 1_000_000,
  backoff: { type: 'capped' },
  removeOnComplete: { age: 3_600, count: 1_000 },
  removeOnFail: { age: 14 * 24 * 3_600, count: 10_000 },
  stackTraceLimit: 5,
  keepLogs: 100,
  /** In bytes, for each of 1,000 members of a group that have changed about 100. */
  sizeLimit: 200_000,
} as const;

/** Wait before attempt n + 1 of a job: 1 s, 2 s, 4 s … 60 s. */
export const backoffMs = (attemptsMade: number) =>
  Math.min(60_000, 1_000 * 2 ** Math.min(attemptsMade - 1, 10));

/**
 * Version of what processes of one fleet must agree on: payloads, and what jobs read and write in staging. A release
 * that changes either increases it. Workers of another version then do not see its jobs; they would fail them.
 */
const JOBS_VERSION = 6;

/**
 * One hash tag for all queues: scripts over several keys work on a cluster. Any job about persons may meet a ledger that
 * another process has just made, so its format is part of the name and cannot be forgotten.
 */
export const QUEUE_PREFIX = `{bh}:jobs-${JOBS_VERSION}-${LEDGER_FORMAT}`;

/**
 * Only the producer can read files on its own disk, so they are staged through a queue of its own; every
 * other job goes to a queue that all workers share.
 */
export const stageQueue = (migrationId: string) => `stage-file-${migrationId}`;
export const SHARED_JOBS = [
  'stage-slice',
  'import-part',
  'resolve-people',
  'merge-people',
  'fold-people',
] as const satisfies JobName[];
/** Taken by API processes alone: only they can open the embedded database. */
export const DELETION_JOB = 'delete-events' as const satisfies JobName;
/** The clock of schedules. Apart from the other queues: a busy queue would begin nothing on time. */
export const SCHEDULE_JOB = 'run-schedule' as const satisfies JobName;
