import { z } from 'zod';
import { nextOccurrence } from '../../src/lib/cron.ts';
import { timezone } from '../../src/sources/common-options.ts';
import { whole } from './manifest-fields.ts';

const CRON =
  'takes the five fields of cron, such as "0 6 * * *" (minute, hour, day, month, day of the week), and must name a moment that comes';
const ONE_YEAR_MINUTES = 525_600;

/** When a migration is topped up. */
export const scheduleBlock = z.strictObject({
  cron: z
    .string({ error: CRON })
    .refine((text) => nextOccurrence(text, new Date(0)) !== undefined, CRON)
    .describe('Five fields of cron: minute, hour, day, month, day of the week.'),
  timezone: timezone.describe('IANA zone that the fields are read in, such as Europe/Berlin.'),
  lagMinutes: whole(0, ONE_YEAR_MINUTES)
    .default(1)
    .describe(
      'Files that changed less than so many minutes ago are left to the next run, as they may still be written. Objects of a bucket appear whole and are taken at once.',
    ),
});
