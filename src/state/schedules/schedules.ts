import { z } from 'zod';
import type { Staging } from '../../contract/staging.ts';
import { encodeDocument, loadDocument } from '../document.ts';
import { parseScheduleKey, SCHEDULES, scheduleLayout } from '../keys/schedule.ts';
import { findNewestNumber } from '../numbered.ts';

/*
 * Schedules of migrations. Like states of migrations they are never replaced: the next version is created under the
 * next number. The queue is only their clock.
 */

const schedule = z.strictObject({
  state: z.enum(['active', 'paused', 'removed']),
  /** When this version was written, ISO 8601. */
  at: z.string(),
  /** From when on runs are due, ISO 8601: when it was set, or resumed. */
  since: z.string(),
  /** Five fields. */
  cron: z.string(),
  /** IANA name. */
  timezone: z.string(),
  /** Files that changed less than so long ago are left to the next run. */
  lagMinutes: z.number(),
  /** Of the migration. Holds no secret (I10). */
  manifest: z.unknown(),
  /** Folder that relative paths of the manifest start from. */
  baseDir: z.string(),
});
export type Schedule = z.infer<typeof schedule>;

export interface NumberedSchedule {
  /** 0 before the first. */
  readonly number: number;
  readonly schedule: Schedule | undefined;
}

export async function loadNewestSchedule(staging: Staging, name: string): Promise<NumberedSchedule> {
  const keys = scheduleLayout(name);
  const number = await findNewestNumber(staging, keys.versions);
  return {
    number,
    schedule: number === 0 ? undefined : await loadDocument(schedule, keys.version(number), staging),
  };
}

/** False where there is a version of that number. */
export const addSchedule = (
  staging: Staging,
  name: string,
  { number, schedule: value }: { readonly number: number; readonly schedule: Schedule },
): Promise<boolean> => staging.create(scheduleLayout(name).version(number), encodeDocument(value));

/** Whether there is one that was not removed. */
export async function isScheduled(staging: Staging, name: string): Promise<boolean> {
  const { schedule: newest } = await loadNewestSchedule(staging, name);
  return newest !== undefined && newest.state !== 'removed';
}

/** Names of migrations that have, or had, a schedule. */
export async function listScheduled(staging: Staging): Promise<string[]> {
  const names = new Set<string>();
  for await (const { key } of staging.list(SCHEDULES)) {
    const name = parseScheduleKey(key);
    if (name !== undefined) names.add(name);
  }
  return [...names];
}
