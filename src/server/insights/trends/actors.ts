import { z } from 'zod';
import { sql } from '../../database/sql.ts';
import type { JsonObject } from '../../http/json.ts';
import type { DateRange } from '../../query/date-range.ts';
import { addIntervals, toIntervalStart } from '../../query/interval.ts';
import type { DateWords } from '../insight-kind.ts';
import { type Buckets, cutRange, findBucketOf, wholeRange } from '../intervals.ts';
import { type ActorList, type ActorQuestion, type Actors, NOBODY } from '../lists/actor-list.ts';
import { readPart } from '../parse/breakdown-value.ts';
import { readCommon } from '../parse/common.ts';
import { readAnySeries } from '../parse/entities.ts';
import { count, given, readBreakdown, readFields, readInterval, words } from '../parse/fields.ts';
import { readTargetSeries, TARGET_PARAMETERS } from '../parse/target-series.ts';
import { findInTrend } from './actors-store.ts';
import { countsFirstOnly } from './compute.ts';
import { AGGREGATED_DISPLAYS } from './model.ts';
import { readDisplay, smoothingIntervals } from './parse.ts';

/** Who did what one number of a trend counts, those who did most first. */
export const trendsActors: ActorList = {
  path: 'trends',
  methods: ['get'],
  summary: 'List the persons behind a number of a trend',
  shows: 'actors',
  parameters: {
    ...TARGET_PARAMETERS,
    target_date:
      'A moment in the interval whose number is meant, where the dates are those of the insight. Without it ' +
      'the dates are those of the number: the same day twice is the whole interval that it is in, but for displays ' +
      'of one number.',
    breakdown: 'Name of a property, or ids of cohorts.',
    breakdown_type: '`event` (default), `person`, `session` or `cohort`.',
    breakdown_limit: 'As of the insight (default 25).',
    breakdown_value:
      'The value whose number is meant, empty for events without one; `$$_breakdown_other_$$` for all beyond ' +
      'the limit, over the dates. Without it every value.',
    smoothing_intervals: 'Without effect: the list is that of the interval itself.',
    display: '`ActionsLineGraphCumulative` counts from the beginning of the dates, as the insight does.',
  },
  parse: parseTrendsActors,
};

const pointFields = z.object({
  target_date: given(words),
  breakdown_limit: count(1, 1000),
  smoothing_intervals: smoothingIntervals,
});

function parseTrendsActors(filters: JsonObject): ActorQuestion {
  const { target_date: date } = readFields(pointFields, filters);
  const series = readTargetSeries(filters);
  const { breakdown, value } = readPart(readBreakdown(filters), filters, 'breakdown_value');
  const display = readDisplay(filters);
  const common = readCommon(filters);
  return {
    ...common,
    interval: readInterval(filters),
    entities: [series, ...readAnySeries(filters)],
    breakdown,
    async find(tx, steps, scope, range): Promise<Actors> {
      const point = findPoint(date, common.dates, range, scope.now, AGGREGATED_DISPLAYS.has(display));
      if (point === undefined) return NOBODY;
      const { buckets, bucket } = point;
      const request = { series, buckets, breakdown, firstOnly: countsFirstOnly(display, series) };
      return {
        rows: sql`select * from ${await findInTrend(tx, steps, scope, { request, bucket, value })} as listed`,
        order: sql`value desc nulls last, length(actor) desc, actor collate "C" desc`,
      };
    },
  };
}

interface Point {
  readonly buckets: Buckets;
  /** From 1. */
  readonly bucket: number;
}

function findPoint(
  date: string | undefined,
  dates: DateWords,
  range: DateRange,
  now: number,
  isOneNumber: boolean,
): Point | undefined {
  if (date !== undefined && !isOneNumber) {
    const buckets = cutRange(range);
    const bucket = findBucketOf({ text: date, attr: 'target_date' }, buckets, range, now);
    return bucket === undefined ? undefined : { buckets, bucket };
  }
  const isInterval = !isOneNumber && dates.from !== undefined && dates.from === dates.to;
  const whole = isInterval ? toItsInterval(range) : range;
  return whole.from < whole.until ? { buckets: wholeRange(whole), bucket: 1 } : undefined;
}

function toItsInterval(range: DateRange): DateRange {
  const { from, interval, weekStart } = range;
  const start = toIntervalStart(from, interval, weekStart);
  return { ...range, from: start, until: addIntervals(start, 1, interval) };
}
