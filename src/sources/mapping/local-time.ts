import { IANAZone } from 'luxon';
import { DAY_MS } from '../../lib/day.ts';
import { ConfigError } from '../../lib/errors.ts';

/** Turns a wall-clock reading, given as if it were UTC milliseconds, into the instant that it means. */
export type ToInstant = (wallMs: number) => number;

const UTC_NAMES = new Set(['utc', 'etc/utc', 'gmt', 'etc/gmt', 'z', 'zulu', 'uct']);

export const isUtc = (zone: string): boolean => UTC_NAMES.has(zone.toLowerCase());

/**
 * The rule where clocks change is that of java.time and Temporal: a reading that occurs twice is its
 * first occurrence; one that never occurs is read with the offset before the change, which moves it
 * forward by the length of the gap. Same text, same instant, on every machine with the same zone data.
 */
export function createToInstant(zoneName: string): ToInstant {
  if (isUtc(zoneName)) return (wallMs) => wallMs;
  const zone = IANAZone.create(zoneName);
  if (!zone.isValid) {
    throw new ConfigError(
      `source.timezone: "${zoneName}" is not an IANA time zone; write one like Europe/Berlin, America/New_York or UTC`,
    );
  }
  // Asking a zone for its offset costs microseconds, and neighbouring records share their minute.
  const known = new Map<number, number>();
  return (wallMs) => {
    const minute = Math.floor(wallMs / MINUTE_MS);
    let offsetMs = known.get(minute);
    if (offsetMs === undefined) {
      if (known.size >= KNOWN_MINUTES) known.clear();
      offsetMs = offsetAt(zone, minute * MINUTE_MS);
      known.set(minute, offsetMs);
    }
    return wallMs - offsetMs;
  };
}

function offsetAt(zone: IANAZone, wallMs: number): number {
  const before = zone.offset(wallMs - DAY_MS) * MINUTE_MS;
  const after = zone.offset(wallMs + DAY_MS) * MINUTE_MS;
  if (zone.offset(wallMs - before) * MINUTE_MS === before) return before;
  return zone.offset(wallMs - after) * MINUTE_MS === after ? after : before;
}

const MINUTE_MS = 60_000;
const KNOWN_MINUTES = 20_000;
