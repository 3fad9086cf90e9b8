import type { FingerprintIndex } from '../../contract/progress.ts';
import { FINGERPRINT_BUCKETS, type FingerprintRange } from '../../state/fingerprints.ts';

/** Fingerprints that are folded at once: some 40 MB. */
const RANGE_ROWS = 1_000_000;

/**
 * Cuts the days of all parts into ranges of about equal size: neighbouring days together, and a day of many
 * events into ranges of its buckets. The same parts give the same ranges.
 */
export function planRepeatRanges(
  indexes: Iterable<FingerprintIndex>,
  rangeRows: number = RANGE_ROWS,
): FingerprintRange[] {
  const rowsByDay = new Map<string, number>();
  for (const { sections } of indexes) {
    for (const { day, rows } of sections) rowsByDay.set(day, (rowsByDay.get(day) ?? 0) + rows);
  }
  const ranges: FingerprintRange[] = [];
  let open: { fromDay: string; toDay: string; rows: number } | undefined;
  const close = () => {
    if (open) ranges.push({ fromDay: open.fromDay, toDay: open.toDay });
    open = undefined;
  };
  for (const [day, rows] of [...rowsByDay].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (open && open.rows + rows > rangeRows) close();
    if (rows > rangeRows) ranges.push(...splitDay(day, Math.ceil(rows / rangeRows)));
    else open = { fromDay: open?.fromDay ?? day, toDay: day, rows: (open?.rows ?? 0) + rows };
  }
  close();
  return ranges;
}

function splitDay(day: string, wanted: number): FingerprintRange[] {
  const pieces = Math.min(FINGERPRINT_BUCKETS, wanted);
  const cut = (piece: number) => Math.floor((piece * FINGERPRINT_BUCKETS) / pieces);
  return Array.from({ length: pieces }, (_, piece) => ({
    fromDay: day,
    toDay: day,
    buckets: [cut(piece), cut(piece + 1)],
  }));
}
