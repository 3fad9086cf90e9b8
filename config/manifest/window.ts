import { z } from 'zod';
import { isTimeZone } from '../../src/sources/common-options.ts';
import { createReadIso } from '../../src/sources/mapping/timestamp.ts';

const MOMENT =
  'takes a date such as 2024-03-15, or a date and time such as 2024-03-15T12:00, with or without an offset, between 1970 and 2100';
const moment = z.string({ error: MOMENT }).refine((text) => readUtc(text) !== undefined, MOMENT);

const ZONE = 'takes an IANA zone such as Europe/Berlin, or an offset such as +02:00';
const OFFSET = /^[+-](?:0\d|1[0-4]):[0-5]\d$/;

export const windowBlock = z
  .strictObject({
    from: moment
      .exactOptional()
      .describe('First moment that is in: a date means its midnight. Default: no beginning.'),
    until: moment
      .exactOptional()
      .describe('First moment that is out, such as when live tracking began. Default: no end.'),
    timezone: z
      .string()
      .refine((zone) => OFFSET.test(zone) || isTimeZone(zone), ZONE)
      .exactOptional()
      .describe(
        'IANA zone or offset in which from and until are read where they carry none. Default: the `timezone` of the source.',
      ),
  })
  .refine(({ from, until }) => from !== undefined || until !== undefined, 'takes from, until or both');

type WindowBlock = z.infer<typeof windowBlock>;

/** ISO 8601 in UTC with milliseconds; `until` itself is out. */
export interface TimeWindow {
  readonly from?: string;
  readonly until?: string;
}

const readUtc = createReadIso('UTC');

/** The moments that a window means; undefined where the manifest has none. */
export function toTimeWindow({
  window,
  source,
}: {
  readonly window?: WindowBlock;
  readonly source: { readonly timezone: string };
}): TimeWindow | undefined {
  if (!window) return undefined;
  const read = createReadMoment(window.timezone ?? source.timezone);
  const from = window.from === undefined ? undefined : read(window.from);
  const until = window.until === undefined ? undefined : read(window.until);
  return { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) };
}

function createReadMoment(zone: string): (text: string) => string | undefined {
  if (!OFFSET.test(zone)) return createReadIso(zone);
  return (text) => {
    const trimmed = text.trim();
    if (trimmed.length === 10) return readUtc(`${trimmed}T00:00:00${zone}`);
    return readUtc(trimmed + zone) ?? readUtc(trimmed); // the latter where it carries an offset of its own
  };
}
