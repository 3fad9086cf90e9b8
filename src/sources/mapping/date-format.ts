import { DateTime } from 'luxon';

/** Names of months and meridiems are read in English whatever the machine's language. */
export const DATE_LOCALE = { locale: 'en-US', numberingSystem: 'latn' } as const;

/**
 * What is wrong with a pattern of Luxon tokens, or undefined. Luxon fills whatever a pattern leaves
 * out from today's date, so a pattern is sound only when it carries an arbitrary past moment over.
 */
export function findDateFormatProblem(pattern: string): string | undefined {
  const foreign = FOREIGN_LETTER.exec(stripLiterals(pattern))?.[0];
  if (foreign !== undefined) {
    return `"${pattern}" holds ${foreign}, which is no token here; write yyyy for the year, dd for the day, and letters that stand for themselves in quotes, as in yyyy-MM-dd'T'HH:mm:ss`;
  }
  // Made here alone: the first date of a process asks the system for its locale, which takes 14 ms.
  const probe = DateTime.fromISO('2003-02-17T13:45:36.789', { zone: 'utc' });
  const written = probe.toFormat(pattern, DATE_LOCALE);
  const read = DateTime.fromFormat(written, pattern, { zone: 'utc', ...DATE_LOCALE });
  if (!read.isValid || !read.hasSame(probe, 'day')) {
    return `"${pattern}" does not fix year, month and day; use iso, epoch_s, epoch_ms, epoch_us, epoch_ns or Luxon tokens such as yyyy-MM-dd HH:mm:ss`;
  }
  if (/[hH]/.test(stripLiterals(pattern)) && read.hour !== probe.hour) {
    return `"${pattern}" reads half past one in the night and in the afternoon alike; use HH, or hh with a (AM/PM)`;
  }
  return undefined;
}

/** Whether the text itself carries a zone, which then overrides the declared one. */
export const carriesZone = (pattern: string): boolean => /[Zz]/.test(stripLiterals(pattern));

/** Any letter that is no accepted token: tokens that depend on a locale or a clock, and `YYYY` of other libraries. */
const FOREIGN_LETTER = /[^\P{L}yLMdoEcHhmsSuaZzkWn]/u;

const stripLiterals = (pattern: string): string => pattern.replace(/'[^']*'/g, '');
