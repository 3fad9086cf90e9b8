import type { Control } from '../../state/control.ts';
import type { Report } from '../report/report.ts';

/** What ended or held a run without an operator asking for it on a page or a command line of its own. */
export interface ErrorView {
  /** The state that the migration entered, or the job that failed for good. */
  readonly what: string;
  readonly reason: string;
  /** ISO 8601; absent for a job of the last run. */
  readonly at?: string;
}

const MAX_ERRORS = 10;

/** Of the last run what failed for good, then what stopped or paused runs, the newest first. */
export function listErrors(history: readonly Control[], report: Report | undefined): ErrorView[] {
  const failed = report?.unfinished.failures ?? [];
  const ended = history.flatMap(({ state, reason, at, epoch }) => {
    const isFromRun = epoch !== undefined && (state === 'stopped' || state === 'paused');
    return isFromRun && reason !== '' ? [{ what: state, reason, at }] : [];
  });
  return [...failed, ...ended].slice(0, MAX_ERRORS);
}
