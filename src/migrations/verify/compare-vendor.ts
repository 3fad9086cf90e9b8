import { zeroCounts } from '../../contract/counts.ts';
import type { RecordCounts } from '../../contract/progress.ts';
import { NO_EVENT, UNKNOWN_DAY } from '../../pipeline/outcomes.ts';
import { OTHER_EVENTS } from '../../pipeline/tally.ts';
import { addRows, type Cause, type Comparison, type Explained, type Row, toRow } from './comparison.ts';
import { type Counts, listKeys } from './event-counts.ts';
import { explainOutcomes, LOSS_CHOICES, sumCauses, toCauses } from './explain-outcomes.ts';
import type { Outcomes } from './outcomes-of.ts';
import { explainShift } from './time-shift.ts';

type ByKey = Readonly<Record<string, RecordCounts>>;

/** Of records that `dropEvents` leaves behind, by the name that they have at the vendor. */
const DROPPED = 'excluded_by_manifest';
/** Reasons that the report always counts without a name. */
const NAMELESS = new Set(['session_marker', 'feeds_people', 'feeds_groups', 'merged_ids', 'no_items']);

/**
 * The vendor's own numbers against what became of the records: what is missing is skipped, rejected, moved or lost.
 * `dropped`: names, as exported, that the manifest leaves behind.
 */
export function compareVendor(
  vendor: { readonly byDay: Counts; readonly byEvent: Counts },
  { byDay, byEvent, byReason }: Pick<Outcomes, 'byDay' | 'byEvent' | 'byReason'>,
  dropped: ReadonlySet<string> = new Set(),
): Comparison {
  const events = compareNames(foldNames(vendor.byEvent, byEvent, dropped), byEvent, byReason, dropped);
  return {
    old: 'vendor',
    now: 'report',
    total: addRows(events),
    tables: [
      { by: 'day', rows: compareDays(vendor.byDay, byDay) },
      { by: 'event', rows: events },
    ],
  };
}

/** Names that the report does not keep apart, as it has too many. */
export function foldNames(counts: Counts, byEvent: ByKey, apart: ReadonlySet<string> = new Set()): Counts {
  if (!Object.hasOwn(byEvent, OTHER_EVENTS)) return counts;
  const folded = new Map<string, number>();
  for (const [name, count] of counts) {
    const key = Object.hasOwn(byEvent, name) || apart.has(name) ? name : OTHER_EVENTS;
    folded.set(key, (folded.get(key) ?? 0) + count);
  }
  return folded;
}

interface Difference {
  readonly key: string;
  readonly old: number;
  readonly now: number;
  readonly counts: RecordCounts | undefined;
}

const listDifferences = (old: Counts, by: ByKey, without: string): Difference[] =>
  listKeys(old.keys(), Object.keys(by))
    .map((key) => {
      const counts = getOwn(by, key);
      return { key, old: old.get(key) ?? 0, now: counts?.delivered ?? 0, counts };
    })
    .filter((one) => one.key !== without || one.old > 0);

/**
 * Explains all days alike: a vendor counts repeats on every day, or on none. Only where that leaves more open, each
 * day by itself.
 */
function compareDays(old: Counts, by: ByKey): Row[] {
  const days = listDifferences(old, by, UNKNOWN_DAY);
  const choices: ((day: Difference) => Explained[])[] = [
    ({ old: before, now, counts }) => explainOutcomes(now - before, counts),
    ...LOSS_CHOICES.map(
      (losses) =>
        ({ counts }: Difference) =>
          toCauses(counts, losses),
    ),
  ];
  const pool = by[UNKNOWN_DAY];
  const missing = new Set(LOSS_CHOICES.map((losses) => -sumCauses(toCauses(pool, losses))));
  const all = [...missing].flatMap((count) =>
    choices.map((choose) => usePool(shiftDays(days, choose, count), pool, 'no_day')),
  );
  return all.reduce((least, rows) => (sumOpen(rows) < sumOpen(least) ? rows : least));
}

function shiftDays(
  days: readonly Difference[],
  choose: (day: Difference) => Explained[],
  missing: number,
): Row[] {
  const rows = days.map((day) => toRow(day.key, day.old, day.now, choose(day)));
  const moves = explainShift(
    rows
      .filter(({ key }) => /^\d{4}-\d\d-\d\d$/.test(key))
      .map(({ key: day, old, now, unexplained: left }) => ({ day, old, now, left })),
    missing,
  );
  return rows.map((row) => withCause(row, 'time_zone', moves.get(row.key) ?? 0));
}

const sumOpen = (rows: readonly Row[]): number =>
  rows.reduce((sum, { unexplained }) => sum + Math.abs(unexplained), 0);

function compareNames(
  old: Counts,
  by: ByKey,
  byReason: Outcomes['byReason'],
  dropped: ReadonlySet<string>,
): Row[] {
  const names = listDifferences(old, by, NO_EVENT);
  const renamed = pairNames(names);
  const rows = names.map((name) => {
    const other = renamed.get(name.key);
    const difference = name.now - name.old;
    if (other === undefined)
      return toRow(name.key, name.old, name.now, explainOutcomes(difference, name.counts));
    const moved: Explained = { cause: 'renamed', count: other.count, name: other.name };
    return toRow(name.key, name.old, name.now, [
      moved,
      ...explainOutcomes(difference - sumCauses([moved]), name.counts),
    ]);
  });
  const excluded = getOwn(byReason, DROPPED) ?? 0;
  const { skipped, ...pool } = by[NO_EVENT] ?? zeroCounts();
  const nameless = Math.max(0, skipped - excluded);
  const { rows: explained, used } = useReasons(
    useDropped(rows, by, dropped, excluded),
    by,
    byReason,
    nameless,
  );
  return usePool(explained, { ...pool, skipped: nameless - used }, 'no_name');
}

/** Names that only the vendor has, and names that only the report has, where the number tells which is which. */
function pairNames(names: readonly Difference[]): Map<string, { name: string; count: number }> {
  const pairs = new Map<string, { name: string; count: number }>();
  const gone = groupBy(
    names.filter(({ counts, old }) => counts === undefined && old > 0),
    ({ old }) => old,
  );
  const come = groupBy(
    names.filter(({ counts, old }) => counts !== undefined && old === 0),
    ({ counts }) => (counts ?? zeroCounts()).read,
  );
  for (const [count, [one, ...others]] of gone) {
    const [other, ...more] = come.get(count) ?? [];
    if (!one || !other || others.length > 0 || more.length > 0) continue;
    pairs.set(one.key, { name: other.key, count: -count });
    pairs.set(other.key, { name: one.key, count });
  }
  return pairs;
}

function groupBy<T>(all: readonly T[], toKey: (one: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const one of all) {
    const group = groups.get(toKey(one));
    if (group) group.push(one);
    else groups.set(toKey(one), [one]);
  }
  return groups;
}

/**
 * Records that are counted under no day or name are missing somewhere. What is missing is these only where it is
 * exactly as many: more or fewer may be a loss.
 */
function usePool(rows: readonly Row[], pool: RecordCounts | undefined, cause: Cause): Row[] {
  const missing = rows.reduce((sum, { unexplained }) => sum + Math.max(0, -unexplained), 0);
  if (missing === 0 || sumCauses(explainOutcomes(-missing, pool)) !== -missing) return [...rows];
  return rows.map((row) => withCause(row, cause, Math.min(0, row.unexplained)));
}

/** Whether all of a name is missing: the report does not have it. */
const isGone = ({ key, unexplained }: Row, byEvent: ByKey): boolean =>
  unexplained < 0 && getOwn(byEvent, key) === undefined;

const withReason = (row: Row, name: string): Row =>
  toRow(row.key, row.old, row.now, [...row.causes, { cause: 'skipped', count: row.unexplained, name }]);

/** Names in `dropEvents` are left behind whole, and no more of them than the report counts as such. */
function useDropped(
  rows: readonly Row[],
  byEvent: ByKey,
  dropped: ReadonlySet<string>,
  excluded: number,
): readonly Row[] {
  const isDropped = (row: Row) => dropped.has(row.key) && isGone(row, byEvent);
  const missing = rows.reduce((sum, row) => (isDropped(row) ? sum - row.unexplained : sum), 0);
  return missing > excluded ? rows : rows.map((row) => (isDropped(row) ? withReason(row, DROPPED) : row));
}

/**
 * A name that the report does not have at all, and a reason to skip with exactly its number. A reason explains one
 * name: where two have its number, nothing tells which. `used`: how many of the nameless records that takes.
 */
function useReasons(
  rows: readonly Row[],
  byEvent: ByKey,
  byReason: Outcomes['byReason'],
  nameless: number,
): { readonly rows: Row[]; readonly used: number } {
  const reasons = groupBy(
    Object.entries(byReason).filter(([reason]) => NAMELESS.has(reason)),
    ([, count]) => count,
  );
  const gone = groupBy(
    rows.filter((row) => isGone(row, byEvent)),
    ({ unexplained }) => -unexplained,
  );
  let used = 0;
  const explained = rows.map((row) => {
    const count = -row.unexplained;
    const [reason, ...others] = reasons.get(count) ?? [];
    if (!reason || others.length > 0 || !isGone(row, byEvent) || gone.get(count)?.length !== 1) return row;
    if (used + count > nameless) return row;
    used += count;
    return withReason(row, reason[0]);
  });
  return { rows: explained, used };
}

const withCause = (row: Row, cause: Cause, count: number): Row =>
  count === 0 ? row : toRow(row.key, row.old, row.now, [...row.causes, { cause, count }]);

const getOwn = <T>(by: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(by, key) ? by[key] : undefined;
