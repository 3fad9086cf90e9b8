import { UnableError } from '../../lib/errors.ts';
import { addRun, loadLastRun, type ScheduledRun } from '../../state/schedules/runs.ts';
import type { Schedule } from '../../state/schedules/schedules.ts';
import type { MigrationStore } from '../migration-runtime.ts';
import { findDue } from './find-due.ts';

/** Others have taken it by then, if any of them can. */
const UNABLE_AFTER_MS = 2 * 60_000;

/** This process cannot run a schedule. */
export class UnableToRunError extends UnableError {
  /** Why nobody ran it, where no other process can either. */
  readonly ofAll: string;

  constructor(message: string, ofAll = `no process can run it: ${message}`) {
    super(message);
    this.ofAll = ofAll;
  }
}

/**
 * Keeps in staging, once, that what is due since some minutes was run by nobody, and why: status and webhook say it from
 * there. The run stays due, from its first moment on.
 */
export async function noteUnable(
  { staging, now }: Pick<MigrationStore, 'staging' | 'now'>,
  name: string,
  schedule: Schedule,
  error: UnableToRunError,
): Promise<void> {
  for (;;) {
    const last = await loadLastRun(staging, name);
    const run = toUnableRun(schedule, last.run, {
      now: now(),
      reason: error.ofAll,
    });
    if (run === undefined || (await addRun(staging, name, { number: last.number + 1, run }))) return;
  }
}

/** Undefined where there is nothing to say, or it is said already. */
function toUnableRun(
  schedule: Pick<Schedule, 'cron' | 'timezone' | 'since'>,
  last: ScheduledRun | undefined,
  { now, reason }: { readonly now: Date; readonly reason: string },
): ScheduledRun | undefined {
  if (last?.outcome === 'unable' && last.reason === reason) return undefined;
  const found = findDue(schedule, last, now);
  if (!found || now.getTime() - found.first.getTime() < UNABLE_AFTER_MS) return undefined;
  const at = now.toISOString();
  return {
    due: found.first.toISOString(),
    startedAt: at,
    endedAt: at,
    missed: last?.outcome === 'unable' ? 0 : found.missed + 1,
    outcome: 'unable',
    reason,
    files: 0,
    failures: last?.failures ?? 0,
    ...(last?.succeededAt === undefined ? {} : { succeededAt: last.succeededAt }),
    ...(last?.ahead === undefined ? {} : { ahead: last.ahead }),
  };
}
