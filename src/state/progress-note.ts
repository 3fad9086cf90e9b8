import { z } from 'zod';
import { recordCounts } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { encodeDocument, loadDocument } from './document.ts';
import { layout } from './keys/migration.ts';
import type { MigrationRecord } from './migrations.ts';
import { findNewestOwn } from './numbered.ts';

const WRITE_EVERY_MS = 2_000;

const count = z.number().int().nonnegative();

/** Events that were accepted in each of a row of intervals of one width, oldest first. */
export const throughput = z.strictObject({
  /** Start of the first interval, ms since 1970. */
  fromMs: z.number(),
  stepMs: z.number().positive(),
  events: z.array(count),
  /** Most events that were ever counted as accepted: what is counted again after a resume is not new. */
  total: count,
});
export type Throughput = z.infer<typeof throughput>;

/** Records with an outcome, those of parts under way included, and what the producer was doing. */
const progress = z.strictObject({
  ...recordCounts.shape,
  // Absent in what version 0.1.0 wrote.
  phase: z.enum(['stage', 'count', 'import', 'people', 'report']).optional(),
  recordsPerSecond: z.number().optional(),
  /** Absent while it is not known. */
  secondsLeft: z.number().optional(),
  /** What is down and waited for, and why. */
  waitingFor: z.string().optional(),
  // Absent in what earlier versions wrote.
  /** Events of these records in requests answered 2xx. */
  events: count.optional(),
  /** Whether nothing but the budget holds the run back. */
  heldByBudget: z.boolean().optional(),
  /** The budget; absent where nothing limits the events. */
  eventsPerMinute: z.number().optional(),
  /** Ranges of persons and groups that are resolved and sent. */
  personJobs: z.strictObject({ done: count, total: count }).optional(),
  throughput: throughput.optional(),
});
export type Progress = z.infer<typeof progress>;

export interface ProgressNote {
  /** Writes the last state and stops. */
  close(): Promise<void>;
}

/**
 * Writes the progress of a run, including parts in progress, to staging every two seconds. `status` reads it:
 * checkpoints are in a Redis that may not be running then, and a receipt is written only at the end of its
 * part. The note decides nothing; when it cannot be written, it is skipped.
 */
export function keepProgressNote(
  staging: Staging,
  { name, id, epoch }: Pick<MigrationRecord, 'name' | 'id'> & { readonly epoch: number },
  getProgress: () => Progress,
): ProgressNote {
  let written = '';
  let writing = Promise.resolve();
  const write = () => {
    writing = writing
      .then(async () => {
        const now = getProgress();
        if (JSON.stringify(now) === written) return;
        await staging.put(layout(name).progress(epoch, id), encodeDocument(now));
        written = JSON.stringify(now);
      })
      .catch(() => {});
    return writing;
  };
  const timer = setInterval(write, WRITE_EVERY_MS).unref();
  return {
    close() {
      clearInterval(timer);
      return write();
    },
  };
}

/** Undefined before the first note. */
export async function loadProgressNote(
  staging: Staging,
  { name, id }: Pick<MigrationRecord, 'name' | 'id'>,
): Promise<Progress | undefined> {
  const keys = layout(name);
  const newest = await findNewestOwn(staging, keys.progressNotes, id);
  return loadDocument(progress, newest?.key ?? keys.oldProgress, staging);
}
