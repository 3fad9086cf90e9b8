import { formatDay } from './format.ts';
import type { PlotSeries } from './plot.ts';

export interface CutPlot {
  readonly series: readonly PlotSeries[];
  readonly days: readonly string[];
  /** What was left out, in a sentence. */
  readonly note?: string;
}

/** A plot is cut where less than this share of it has values. */
const LEAST_SHARE = 0.5;

/**
 * History that was imported ends long before today, and would be a few hairlines in years of nothing. Where
 * most of a plot is empty, its empty ends are left out but for one value on each side, and a note says so.
 */
export function cutEmptyEnds(series: readonly PlotSeries[], days: readonly string[]): CutPlot {
  const isFilled = (index: number) => series.some(({ values }) => (values[index] ?? 0) !== 0);
  const first = days.findIndex((_, index) => isFilled(index));
  const last = days.findLastIndex((_, index) => isFilled(index));
  if (first === -1 || (last - first + 1) / days.length >= LEAST_SHARE) return { series, days };
  const [from, until] = [Math.max(0, first - 1), Math.min(days.length, last + 2)];
  const sides = [
    ...(from > 0 ? [`before ${formatDay(days[first] ?? '')}`] : []),
    ...(until < days.length ? [`after ${formatDay(days[last] ?? '')}`] : []),
  ];
  return {
    series: series.map((one) => ({ ...one, values: one.values.slice(from, until) })),
    days: days.slice(from, until),
    note: `Nothing ${sides.join(' or ')}.`,
  };
}
