import type { Queryable } from '../../database/db.ts';
import type { DateRange } from '../../query/date-range.ts';
import type { Entity } from '../entity.ts';
import type { EventScope } from '../events-store.ts';
import { checkSize } from '../insight-error.ts';
import { cutRange } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import type { StickinessData, StickinessQuery, StickinessSeries } from './model.ts';
import { loadStickiness, type StickinessPoint } from './store.ts';

export async function computeStickiness(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  query: StickinessQuery,
  range: DateRange,
): Promise<StickinessData> {
  const buckets = cutRange(range);
  checkSize(query.series.length * buckets.starts.length);
  const result: StickinessSeries[] = [];
  for (const entity of query.series) {
    const points = buckets.starts.length === 0 ? [] : await loadStickiness(tx, steps, scope, buckets, entity);
    result.push(shapeStickiness(points, buckets.starts.length, entity, range));
  }
  return { insight: 'STICKINESS', result };
}

/** Persons by the number of intervals that they were active in, from one to all. */
function shapeStickiness(
  points: readonly StickinessPoint[],
  bucketCount: number,
  { action, name }: Pick<Entity, 'action' | 'name'>,
  { interval }: Pick<DateRange, 'interval'>,
): StickinessSeries {
  const people = new Map(points.map((point) => [point.active, point.people]));
  const days = Array.from({ length: bucketCount }, (_, index) => index + 1);
  const data = days.map((active) => people.get(active) ?? 0);
  return {
    action,
    label: name,
    data,
    count: data.reduce((sum, value) => sum + value, 0),
    days,
    labels: days.map((active) => `${active} ${interval}${active === 1 ? '' : 's'}`),
  };
}
