import type { Queryable } from '../../database/db.ts';
import type { DateRange } from '../../query/date-range.ts';
import { addIntervals, toIntervalStart } from '../../query/interval.ts';
import type { Entity } from '../entity.ts';
import type { EventScope } from '../events-store.ts';
import { type Buckets, cutRange } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { LifecycleData, LifecycleQuery } from './model.ts';
import { LIFECYCLE_STATUSES, type LifecycleSeries } from './model.ts';
import { type LifecyclePoint, loadLifecycle } from './store.ts';

export async function computeLifecycle(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  query: LifecycleQuery,
  range: DateRange,
): Promise<LifecycleData> {
  const buckets = cutLifecycle(range);
  const points =
    buckets.starts.length === 0 ? [] : await loadLifecycle(tx, steps, scope, buckets, query.entity);
  return { insight: 'LIFECYCLE', result: shapeLifecycle(points, buckets, query.entity) };
}

/** The first bucket is the interval before the range. */
export const cutLifecycle = (range: DateRange): Buckets => cutRange(withIntervalBefore(range));

function withIntervalBefore(range: DateRange): DateRange {
  const { from, until, interval, weekStart } = range;
  if (from >= until) return range;
  return { ...range, from: addIntervals(toIntervalStart(from, interval, weekStart), -1, interval) };
}

/** A series for each status. Dormant persons count below zero, as clients draw them downwards. */
function shapeLifecycle(
  points: readonly LifecyclePoint[],
  buckets: Buckets,
  { action, name }: Pick<Entity, 'action' | 'name'>,
): LifecycleSeries[] {
  return LIFECYCLE_STATUSES.map((status) => {
    const data = buckets.days.slice(1).map(() => 0);
    for (const { bucket, people, ...point } of points) {
      if (point.status === status) data[bucket - 2] = status === 'dormant' ? -people : people;
    }
    return {
      action,
      label: `${name} - ${status}`,
      status,
      data,
      count: data.reduce((sum, value) => sum + value, 0),
      labels: buckets.labels.slice(1),
      days: buckets.days.slice(1),
    };
  });
}
