import { renderColumns } from './charts/columns.ts';
import { formatDay } from './charts/format.ts';
import { renderLines } from './charts/lines.ts';
import { type Markup, markup } from './charts/markup.ts';
import { pickColor } from './charts/plot.ts';
import { renderFunnel } from './funnel/render.ts';
import type { InsightResult } from './insight-port.ts';
import type { InsightData, LifecycleStatus } from './insight-results.ts';
import { renderPaths } from './paths/render.ts';
import { renderRetention } from './retention/render.ts';
import { renderTrends } from './trends/render.ts';

/** HTML of a result for people. It needs the styles of render-styles.ts, and no script. */
export const renderInsight = (result: InsightResult): string => render(result).toString();

function render(result: InsightResult): Markup {
  if (result.kind === 'failed') {
    return markup`<p class="insight insight-none"><strong>This insight cannot be shown.</strong> ${result.message}</p>`;
  }
  const { data } = result;
  if (isEmpty(data)) return markup`<p class="insight insight-none">No matching events in this time.</p>`;
  switch (data.insight) {
    case 'TRENDS':
      return renderTrends(data);
    case 'FUNNELS':
      return renderFunnel(data.result);
    case 'RETENTION':
      return renderRetention(data.result);
    case 'PATHS':
      return renderPaths(data.result);
    case 'LIFECYCLE': {
      const labels = (data.result[0]?.days ?? []).map(formatDay);
      return renderColumns(
        data.result.map(({ status, data: values }) => ({
          name: status,
          values,
          color: STATUS_COLORS[status],
        })),
        labels,
      );
    }
    case 'STICKINESS': {
      const labels = data.result[0]?.labels ?? [];
      const series = data.result.map(({ label, data: values }, index) => ({
        name: label,
        values,
        color: pickColor(index),
      }));
      if (series.length === 1) return renderColumns(series, labels);
      return renderLines(series, labels);
    }
  }
}

const STATUS_COLORS: Readonly<Record<LifecycleStatus, string>> = {
  new: 'insight-1',
  returning: 'insight-3',
  resurrecting: 'insight-4',
  dormant: 'insight-2',
};

/** Whether there is nothing to draw. A number of zero is something to read. */
function isEmpty(data: InsightData): boolean {
  switch (data.insight) {
    case 'TRENDS':
      return (
        data.display !== 'BoldNumber' &&
        data.result.every(({ count, data: values }) => count === 0 && values.every(isZero))
      );
    case 'LIFECYCLE':
    case 'STICKINESS':
      return data.result.every(({ data: values }) => values.every(isZero));
    case 'RETENTION':
      return data.result.every(({ values }) => values.every(({ count }) => count === 0));
    case 'FUNNELS':
      return data.result.flat().every(({ count }) => count === 0);
    case 'PATHS':
      return data.result.length === 0;
  }
}

const isZero = (value: number): boolean => value === 0;
