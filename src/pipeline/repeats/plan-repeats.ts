import type { FingerprintIndex } from '../../contract/progress.ts';
import { FINGERPRINT_BUCKETS, type FingerprintRange } from '../../state/fingerprints.ts';

/** Fingerprints of a range, which leaves one document. Ranges that an earlier version has folded count as well. */
const RANGE_ROWS = 1_000_000;
/** Fingerprints that are folded at once: some 9 MB. */
const FOLD_ROWS = 256 * 1024;

/** What is folded by itself, in order. Only a range as a whole is looked up after an interruption. */
export type RepeatRange = readonly FingerprintRange[];

type DayRows = readonly [day: string, rows: number];
type Buckets = readonly [number, number];

/**
 * Cuts the days of all parts into ranges of about equal size: neighbouring days together, and a day of many
 * events into ranges of its buckets. The same parts give the same ranges. Each is cut in the same way once more, to be
 * folded in little memory.
 */
export function planRepeatRanges(
  indexes: Iterable<FingerprintIndex>,
  { rangeRows = RANGE_ROWS, foldRows = FOLD_ROWS } = {},
): RepeatRange[] {
  const rowsByDay = new Map<string, number>();
  for (const { sections } of indexes) {
    for (const { day, rows } of sections) rowsByDay.set(day, (rowsByDay.get(day) ?? 0) + rows);
  }
  const days = [...rowsByDay].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return cutDays(days, rangeRows).map(({ fromDay, toDay, buckets }) => {
    const within = days.filter(([day]) => day >= fromDay && day <= toDay);
    if (!buckets) return cutDays(within, foldRows);
    const rows = ((rowsByDay.get(fromDay) ?? 0) * countBuckets(buckets)) / FINGERPRINT_BUCKETS;
    return splitDay(fromDay, Math.ceil(rows / foldRows), buckets);
  });
}

function cutDays(days: readonly DayRows[], mostRows: number): FingerprintRange[] {
  const ranges: FingerprintRange[] = [];
  let open: { fromDay: string; toDay: string; rows: number } | undefined;
  const close = () => {
    if (open) ranges.push({ fromDay: open.fromDay, toDay: open.toDay });
    open = undefined;
  };
  for (const [day, rows] of days) {
    if (open && open.rows + rows > mostRows) close();
    if (rows > mostRows) ranges.push(...splitDay(day, Math.ceil(rows / mostRows), ALL_BUCKETS));
    else open = { fromDay: open?.fromDay ?? day, toDay: day, rows: (open?.rows ?? 0) + rows };
  }
  close();
  return ranges;
}

const ALL_BUCKETS: Buckets = [0, FINGERPRINT_BUCKETS];

const countBuckets = ([from, to]: Buckets): number => to - from;

function splitDay(day: string, wanted: number, buckets: Buckets): FingerprintRange[] {
  const count = countBuckets(buckets);
  const pieces = Math.min(count, wanted);
  const cut = (piece: number) => buckets[0] + Math.floor((piece * count) / pieces);
  return Array.from({ length: pieces }, (_, piece) => ({
    fromDay: day,
    toDay: day,
    buckets: [cut(piece), cut(piece + 1)],
  }));
}
