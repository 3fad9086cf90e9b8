import type { Queryable } from '../../database/db.ts';
import type { DateRange } from '../../query/date-range.ts';
import { loadCohortNames } from '../breakdown-store.ts';
import { EVERYBODY, OTHER_VALUES, type Series } from '../entity.ts';
import type { EventScope } from '../events-store.ts';
import { checkSize } from '../insight-error.ts';
import { type Buckets, cutRange, previousRange, wholeRange } from '../intervals.ts';
import type { Steps } from '../steps.ts';
import { applyFormulas } from './apply-formulas.ts';
import {
  AGGREGATED_DISPLAYS,
  describeValue,
  type TrendSeries,
  type TrendsData,
  type TrendsQuery,
} from './model.ts';
import { smoothLine } from './smooth-line.ts';
import { loadTrend, type TrendPoint } from './store.ts';

export async function computeTrends(
  tx: Queryable,
  steps: Steps,
  scope: EventScope,
  query: TrendsQuery,
  range: DateRange,
): Promise<TrendsData> {
  const result: TrendSeries[] = [];
  const names = await loadCohortNames(tx, scope.projectId, query.breakdown);
  for (const { buckets, mark } of listPeriods(query, range)) {
    const bySeries: TrendSeries[][] = [];
    for (const series of query.series) {
      const points =
        buckets.starts.length === 0
          ? []
          : await loadTrend(tx, steps, scope, {
              series,
              buckets,
              breakdown: query.breakdown,
              firstOnly: countsFirstOnly(query.display, series),
            });
      bySeries.push(shapeTrend(points, series, { ...query, names }, buckets));
    }
    const shown = query.formulas.length > 0 ? applyFormulas(query.formulas, bySeries) : bySeries.flat();
    result.push(...shown.map((one) => ({ ...one, ...mark })));
  }
  const isSmooth = query.smoothing > 1 && !AGGREGATED_DISPLAYS.has(query.display);
  return {
    insight: 'TRENDS',
    display: query.display,
    ...(isSmooth ? { smoothing: query.smoothing } : {}),
    result,
  };
}

const CUMULATIVE = 'ActionsLineGraphCumulative';

/** Cumulative lines count each person in the first bucket they are seen in. */
export const countsFirstOnly = (display: TrendsQuery['display'], { measure }: Pick<Series, 'measure'>) =>
  display === CUMULATIVE && measure.math === 'dau';

interface Period {
  readonly buckets: Buckets;
  readonly mark: Pick<TrendSeries, 'compare' | 'compare_label'>;
}

function listPeriods(query: TrendsQuery, range: DateRange): Period[] {
  const cut = AGGREGATED_DISPLAYS.has(query.display) ? wholeRange : cutRange;
  const buckets = cut(range);
  const values = query.breakdown === undefined ? 1 : query.breakdown.limit + 1;
  checkSize(query.series.length * values * buckets.starts.length);
  if (!query.compare) return [{ buckets, mark: {} }];
  return [
    { buckets, mark: { compare: true, compare_label: 'current' } },
    { buckets: cut(previousRange(range)), mark: { compare: true, compare_label: 'previous' } },
  ];
}

/** The points of one series, as a line for each value of the breakdown: most first, the others last. */
function shapeTrend(
  points: readonly TrendPoint[],
  series: Series,
  query: Pick<TrendsQuery, 'display' | 'breakdown' | 'series' | 'smoothing'> & {
    readonly names: ReadonlyMap<string, string>;
  },
  buckets: Buckets,
): TrendSeries[] {
  const { breakdown, display } = query;
  const lines = new Map<string | null, number[]>();
  if (breakdown === undefined) lines.set('', zeros(buckets));
  // A cohort that nobody of is there has a line as well.
  for (const value of query.names.keys()) if (isAsked(value)) lines.set(value, zeros(buckets));
  for (const { bucket, value, total } of points) {
    if (value === null && breakdown?.hideOther) continue;
    const line = lines.get(value) ?? zeros(buckets);
    lines.set(value, line);
    line[bucket - 1] = total ?? 0;
  }
  return [...lines]
    .map(([value, line]) => ({ value, shown: toSeries(line) }))
    .sort((a, b) => b.shown.count - a.shown.count || compareValues(a.value, b.value))
    .sort((a, b) => Number(a.value === null) - Number(b.value === null))
    .map(({ value, shown }) => ({ ...shown, ...(breakdown === undefined ? {} : describeBreakdown(value)) }));

  function isAsked(value: string): boolean {
    return breakdown?.owner === 'cohort' && breakdown.cohorts.some((id) => String(id) === value);
  }

  function toSeries(line: readonly number[]): TrendSeries {
    const { action, name: label } = series;
    if (AGGREGATED_DISPLAYS.has(display)) {
      const [total = 0] = line;
      return { action, label, count: total, data: [], labels: [], days: [], aggregated_value: total };
    }
    const data = smoothLine(display === CUMULATIVE ? runningSum(line) : line, query.smoothing);
    const count = display === CUMULATIVE ? (data.at(-1) ?? 0) : data.reduce((sum, value) => sum + value, 0);
    return { action, label, count, data, labels: buckets.labels, days: buckets.days };
  }

  function describeBreakdown(value: string | null): Pick<TrendSeries, 'label' | 'breakdown_value'> {
    const own = breakdown?.owner === 'cohort' ? toCohortValue(value) : value;
    const breakdownValue = own ?? OTHER_VALUES;
    const shown = query.names.get(value ?? '') ?? describeValue(breakdownValue);
    const label = query.series.length > 1 ? `${series.name} - ${shown}` : shown;
    return { label, breakdown_value: breakdownValue };
  }
}

const toCohortValue = (value: string | null) =>
  value === null || value === EVERYBODY ? value : Number(value);

/** As the database orders them: events without a value come last. */
function compareValues(a: string | null, b: string | null): number {
  if (!a || !b) return Number(!a) - Number(!b);
  return a < b ? -1 : 1;
}

const zeros = ({ starts }: Buckets): number[] => starts.map(() => 0);

function runningSum(line: readonly number[]): number[] {
  let sum = 0;
  return line.map((value) => (sum += value));
}
