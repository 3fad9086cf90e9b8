import { DateTime, type Zone } from 'luxon';
import type { Queryable } from '../../database/db.ts';
import type { DateRange } from '../../query/date-range.ts';
import { addIntervals, toIntervalStart } from '../../query/interval.ts';
import type { EventScope } from '../events-store.ts';
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
  return { insight: 'RETENTION', result: shapeRetention(points, buckets, query, range.from.zone) };
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
