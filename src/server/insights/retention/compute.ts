import { DateTime, type Zone } from 'luxon';
import type { Queryable } from '../../database/db.ts';
import type { DateRange } from '../../query/date-range.ts';
import { addIntervals, toIntervalStart } from '../../query/interval.ts';
import { loadCohortNames } from '../breakdown-store.ts';
import { type Breakdown, EVERYBODY, OTHER_VALUES } from '../entity.ts';
import type { EventScope } from '../events-store.ts';
import { checkSize } from '../insight-error.ts';
import { type Buckets, cutRange } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { RetentionData, RetentionQuery, RetentionRow } from './model.ts';
import { loadRetention, type RetentionPoint } from './store.ts';

export async function computeRetention(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  query: RetentionQuery,
  range: DateRange,
): Promise<RetentionData> {
  const buckets = cutRetention(range, query);
  const points = await loadRetention(tx, steps, scope, buckets, query);
  const names = await loadCohortNames(tx, scope.projectId, query.breakdown);
  return { insight: 'RETENTION', result: shapeValues(points, buckets, { ...query, names }, range.from.zone) };
}

export const cutRetention = (
  range: DateRange,
  { totalIntervals }: Pick<RetentionQuery, 'totalIntervals'>,
): Buckets => cutRange(retentionRange(range, totalIntervals));

/** So many whole periods up to the one that the range ends in; where the range begins does not matter. */
function retentionRange(range: DateRange, totalIntervals: number): DateRange {
  const { interval, weekStart } = range;
  const last = toIntervalStart(range.until.minus(1), interval, weekStart);
  return {
    ...range,
    from: addIntervals(last, 1 - totalIntervals, interval),
    until: addIntervals(last, 1, interval),
  };
}

type Shaped = Pick<RetentionQuery, 'period' | 'breakdown'> & { readonly names: ReadonlyMap<string, string> };

/** The rows of each value of the breakdown: those with most persons first, the others last. */
function shapeValues(
  points: readonly RetentionPoint[],
  buckets: Buckets,
  query: Shaped,
  zone: Zone,
): RetentionRow[] {
  const { breakdown, names } = query;
  if (breakdown === undefined) return shapeRetention(points, buckets, query, zone);
  const sizes = new Map<string | null, number>();
  for (const { value, later, people } of points) {
    if (value === null && breakdown.hideOther) continue;
    sizes.set(value, (sizes.get(value) ?? 0) + (later === 0 ? people : 0));
  }
  checkSize(sizes.size * buckets.starts.length ** 2);
  return [...sizes]
    .sort(([one, a], [other, b]) => Number(one === null) - Number(other === null) || b - a)
    .flatMap(([value]) => {
      const own = points.filter((point) => point.value === value);
      const marks = markValue(value, breakdown, names);
      return shapeRetention(own, buckets, query, zone).map((row) => ({ ...row, ...marks }));
    });
}

function markValue(
  value: string | null,
  { owner }: Breakdown,
  names: Shaped['names'],
): Required<Pick<RetentionRow, 'breakdown' | 'breakdown_value'>> {
  const isId = owner === 'cohort' && value !== null && value !== EVERYBODY;
  const shown = value === null ? 'Other' : (names.get(value) ?? (value || 'none'));
  return { breakdown: shown, breakdown_value: isId ? Number(value) : (value ?? OTHER_VALUES) };
}

/** A row for each period, as long as there are periods to come back in. */
function shapeRetention(
  points: readonly RetentionPoint[],
  buckets: Buckets,
  { period }: Pick<RetentionQuery, 'period'>,
  zone: Zone,
): RetentionRow[] {
  const people = new Map(points.map((point) => [`${point.row} ${point.later}`, point.people]));
  const name = period.charAt(0).toUpperCase() + period.slice(1);
  return buckets.starts.map((start, index) => ({
    date: DateTime.fromISO(start, { zone }).toISO() ?? start,
    label: `${name} ${index}`,
    values: buckets.starts
      .slice(index)
      .map((_, later) => ({ count: people.get(`${index + 1} ${later}`) ?? 0 })),
  }));
}
