import { createTimeAxis } from './axis.ts';
import { renderColumns } from './columns.ts';
import { cutEmptyEnds } from './empty-ends.ts';
import type { Html } from './html.ts';
import { renderLines } from './lines.ts';
import type { PlotSeries } from './plot.ts';

/** Values by day (`2024-01-31`) or hour (`2024-01-31 08:00:00`), without years of nothing around them. */
export function renderOverTime(
  form: 'lines' | 'columns',
  series: readonly PlotSeries[],
  days: readonly string[],
): Html {
  const { note, ...cut } = cutEmptyEnds(series, days);
  const axis = { ...createTimeAxis(cut.days), ...(note === undefined ? {} : { note }) };
  return form === 'columns' ? renderColumns(cut.series, axis) : renderLines(cut.series, axis);
}
