import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadDocument } from '../document.ts';
import { parseNumberedKey } from '../keys/migration.ts';
import { scheduleLayout } from '../keys/schedule.ts';
import { findNewestNumber } from '../numbered.ts';

const OUTCOMES = [
  /** What was new is imported. */
  'done',
  /** Everything was in already. */
  'nothing_new',
  /** Another process was running the migration. */
  'busy',
  /** An operator paused, cancelled or removed the migration. */
  'held',
  /** None: no process could run it. What is due stays so. */
  'unable',
  'failed',
] as const;

/** Files that a run left to a later one, as they may still be written. */
const waitingFiles = z.strictObject({
  files: z.number(),
  /** How many of them have a time of change in the future. */
  ahead: z.number(),
  /** Of the first ones. */
  names: z.array(z.string()),
});
export type WaitingFiles = z.infer<typeof waitingFiles>;

/** A file whose time of change lay in the future, as it is since a run first saw it, ISO 8601. */
const aheadFile = z.strictObject({
  fileId: z.string(),
  bytes: z.number(),
  modified: z.string(),
  since: z.string(),
});
export type AheadFile = z.infer<typeof aheadFile>;

/** What one run of a schedule came to; created once, when it ends. */
const scheduledRun = z.strictObject({
  /** The last moment of the schedule that this run stands for, or where nobody could run it the first that is due, ISO 8601. */
  due: z.string(),
  startedAt: z.string(),
  endedAt: z.string(),
  /** Moments before it at which nothing ran. */
  missed: z.number(),
  outcome: z.enum(OUTCOMES),
  /** Empty where there is nothing to add. */
  reason: z.string(),
  /** Files that were new to it; not those that an earlier run had begun with and this one continued. */
  files: z.number(),
  /** Runs in a row that failed, this one included; one that found another process at work breaks no row. */
  failures: z.number(),
  /** When a run last ended well, this one included, ISO 8601; absent where none did. */
  succeededAt: z.string().exactOptional(),
  /** Absent where it left none. */
  waiting: waitingFiles.exactOptional(),
  /** What the next run compares files with; of earlier runs where this one did not look. */
  ahead: z.array(aheadFile).exactOptional(),
});
export type ScheduledRun = z.infer<typeof scheduledRun>;

const RUNS_KEPT = 100;

export interface NumberedRun {
  /** 0 before the first. */
  readonly number: number;
  readonly run: ScheduledRun | undefined;
}

export async function loadLastRun(staging: Staging, name: string): Promise<NumberedRun> {
  const keys = scheduleLayout(name);
  const number = await findNewestNumber(staging, keys.runs);
  return {
    number,
    run: number === 0 ? undefined : await loadDocument(scheduledRun, keys.run(number), staging),
  };
}

/** Undefined where it was removed. */
export const loadRun = (staging: Staging, name: string, number: number): Promise<ScheduledRun | undefined> =>
  loadDocument(scheduledRun, scheduleLayout(name).run(number), staging);

/** False where there is a run of that number. The oldest ones are removed. */
export async function addRun(
  staging: Staging,
  name: string,
  { number, run }: { readonly number: number; readonly run: ScheduledRun },
): Promise<boolean> {
  const keys = scheduleLayout(name);
  if (!(await staging.create(keys.run(number), encodeDocument(run)))) return false;
  for await (const { key } of staging.list(keys.runs))
    if ((parseNumberedKey(key) ?? number) <= number - RUNS_KEPT) await staging.remove(key);
  return true;
}
