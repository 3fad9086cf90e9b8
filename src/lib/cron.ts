import { CronExpressionParser } from 'cron-parser';

/** When the contract has the events of deleted persons deleted: Sundays at 05:00 UTC. */
export const DELETION_SCHEDULE = '0 5 * * 0';

/** Names of days and months stand for their numbers; what hashes or needs a sixth field is left out. */
const FIELD = '(?:[\\d*/,?#L-]|sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)+';
const FIVE_FIELDS = new RegExp(`^${FIELD}(?: ${FIELD}){4}$`, 'i');

/**
 * The first moment after `after` that a schedule names: the five fields of cron, in UTC. Undefined for a
 * text that is no schedule, or that names no moment at all (30 February).
 */
export function nextOccurrence(schedule: string, after: Date): Date | undefined {
  if (!FIVE_FIELDS.test(schedule)) return undefined;
  try {
    return CronExpressionParser.parse(schedule, { currentDate: after, tz: 'UTC' }).next().toDate();
  } catch {
    return undefined;
  }
}
