import { createRequire } from 'node:module';

/** When the contract has the events of deleted persons deleted: Sundays at 05:00 UTC. */
export const DELETION_SCHEDULE = '0 5 * * 0';

/**
 * Settings know schedules, so every command has this file; the package brings a library of time zones, which only
 * those need that have a schedule.
 */
const loadParser = (): typeof import('cron-parser') => require('cron-parser');
const require = createRequire(import.meta.url);

/** Names of days and months stand for their numbers; what hashes or needs a sixth field is left out. */
const FIELD = '(?:[\\d*/,?#L-]|sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)+';
const FIVE_FIELDS = new RegExp(`^${FIELD}(?: ${FIELD}){4}$`, 'i');

/**
 * The first moment after `after` that a schedule names: the five fields of cron, in a time zone. Undefined for a
 * text that is no schedule, or that names no moment at all (30 February). Where clocks are put forward, a moment
 * that is left out is an hour later.
 * @default timezone UTC
 */
export function nextOccurrence(schedule: string, after: Date, timezone = 'UTC'): Date | undefined {
  for (const next of occurrences(schedule, after, timezone)) return next;
  return undefined;
}

/** All of them, in order. */
export function* occurrences(schedule: string, after: Date, timezone = 'UTC'): Generator<Date> {
  if (!FIVE_FIELDS.test(schedule)) return;
  const { CronExpressionParser } = loadParser();
  try {
    const expression = CronExpressionParser.parse(schedule, { currentDate: after, tz: timezone });
    for (;;) yield expression.next().toDate();
  } catch {
    // It is no schedule, or has come to its end.
  }
}
