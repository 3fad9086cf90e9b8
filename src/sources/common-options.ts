import { z } from 'zod';
import { suggest } from '../lib/suggest.ts';
import { ENCODINGS } from './formats/decode-text.ts';
import type { WithGeoip } from './source.ts';

/** Keys of a manifest's `source` block that several vendors share. */

const FROM = 'takes a path, glob, folder or s3://bucket/prefix, or a list of them';
/** One place or several; always a list once parsed. */
export const from = z
  .union([z.string().min(1), z.array(z.string().min(1)).min(1)], { error: FROM })
  .transform((places) => (typeof places === 'string' ? [places] : places))
  .describe('Files, globs, folders or s3://bucket/prefix; paths start from the folder of the manifest.');

/** Only names of the IANA list: an offset ignores daylight saving, and not every Node.js accepts one. */
export const timezone = z
  .string()
  .superRefine((zone, context) => {
    if (isTimeZone(zone)) return;
    const near = suggest(zone, ['UTC', ...Intl.supportedValuesOf('timeZone')]);
    const hint = near === undefined ? 'write one such as UTC or Europe/Berlin' : `did you mean "${near}"?`;
    context.addIssue({ code: 'custom', message: `"${zone}" is no IANA time zone; ${hint}` });
  })
  .default('UTC')
  .describe('IANA zone of timestamps that carry none, such as Europe/Berlin.');

/** The value of `geoip` that leaves places to the service. */
export const DESTINATION = 'destination';

const GEOIP = `takes the path of a MaxMind file (.mmdb), or "${DESTINATION}"`;
export const geoip = z
  .string({ error: GEOIP })
  .refine((written) => written === DESTINATION || /.\.mmdb$/i.test(written), { error: GEOIP })
  .optional()
  .describe(
    `Where countries and cities come from that the export does not name: a MaxMind file (.mmdb, such as GeoLite2 City; its path starts from the folder of the manifest), by the address of the event; or \`${DESTINATION}\`, where the service looks the address up in its own table of today. Default: neither.`,
  );

/** Places are looked up since version 3 of every mapping. */
export const listUnheededPlaces = ({ geoip }: WithGeoip, version: number): string[] =>
  version < 3 && geoip !== undefined ? ['geoip'] : [];

export const dropEvents = z
  .array(z.string().min(1))
  .default([])
  .describe(
    'Event names, as exported, that are not imported; counted as skipped (excluded_by_manifest). Which ids belong to one person is still read from them; what else they say of persons and groups is left behind.',
  );

export const encoding = z
  .enum(ENCODINGS)
  .exactOptional()
  .describe(
    'Encoding of files without a byte order mark, such as windows-1252. Default: UTF-8, or UTF-16 where a mark says so. Bytes that mean nothing in it make their record a reject.',
  );

export const dropIp = z
  .boolean()
  .default(false)
  .describe('Leave IP addresses behind: no `$ip` on any event.');

export function isTimeZone(zone: string): boolean {
  if (zone === 'UTC') return true; // most manifests need no other, and the first question takes 12 ms
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
}
