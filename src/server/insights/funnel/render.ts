import { html } from 'hono/html';
import { renderBars } from '../../../charts/bars.ts';
import { formatDuration, formatNumber, formatShare } from '../../../charts/format.ts';
import type { Html } from '../../../charts/html.ts';
import { renderOverTime } from '../../../charts/over-time.ts';
import { pickColor } from '../../../charts/plot.ts';
import type { FunnelData, FunnelRates, FunnelStep, FunnelSteps, FunnelTimes } from './model.ts';

export function renderFunnel(data: FunnelData): Html {
  switch (data.shown) {
    case 'steps':
      return isBrokenDown(data.result) ? renderValues(data.result) : renderSteps(data.result);
    case 'trends':
      return renderRates(data.result);
    case 'time_to_convert':
      return renderTimes(data.result);
  }
}

function renderRates(result: readonly FunnelRates[]): Html {
  const series = result.map(({ data, breakdown: value }, index) => ({
    name: value === undefined ? 'converted, %' : value.join(', ') || 'none',
    values: data,
    color: pickColor(index),
  }));
  return renderOverTime('lines', series, result[0]?.days ?? []);
}

function renderTimes({ bins, bin_width: width, average_conversion_time: average }: FunnelTimes): Html {
  const most = Math.max(1, ...bins.map(([, persons]) => persons));
  const bars = bins.map(([seconds, persons]) => ({
    label: `${formatDuration(seconds)} to ${formatDuration(seconds + width)}`,
    value: formatNumber(persons),
    share: persons / most,
  }));
  return html`<div class="insight">${renderBars(bars)}${
    average === null ? '' : html`<p class="insight-note">${formatDuration(average)} on average.</p>`
  }</div>`;
}

const isBrokenDown = (result: FunnelSteps): result is readonly (readonly FunnelStep[])[] =>
  Array.isArray(result[0]);

const renderName = ({ name, custom_name: custom, order }: FunnelStep): string =>
  `${order + 1}. ${custom || name}`;

function renderSteps(steps: readonly FunnelStep[]): Html {
  const entered = steps[0]?.count ?? 0;
  return html`<div class="insight">${renderBars(
    steps.map((step, index) => ({
      label: renderName(step),
      value: formatNumber(step.count),
      aside: formatShare(step.count, entered),
      share: step.count / (entered || 1),
      ...(index === 0 ? {} : { note: describeStep(step, steps[index - 1]?.count ?? 0) }),
    })),
  )}</div>`;
}

function describeStep(
  { count, average_conversion_time: average, median_conversion_time: median }: FunnelStep,
  before: number,
): string {
  const rate = `${formatShare(count, before)} of the step before`;
  if (average === null || median === null) return rate;
  return `${rate}, after ${formatDuration(average)} on average (median ${formatDuration(median)})`;
}

/** A row for each value of the breakdown: persons at each step, and their share of the first. */
function renderValues(result: readonly (readonly FunnelStep[])[]): Html {
  return html`<div class="insight insight-scroll" tabindex="0"><table>
    <thead><tr><td></td>${(result[0] ?? []).map((step) => html`<th scope="col">${renderName(step)}</th>`)}</tr></thead>
    <tbody>${result.map(
      (steps) =>
        html`<tr><th scope="row">${steps[0]?.breakdown?.join(', ') || 'none'}</th>${steps.map(
          ({ count }, index) =>
            html`<td>${formatNumber(count)}${index > 0 ? html` <small>${formatShare(count, steps[0]?.count ?? 0)}</small>` : ''}</td>`,
        )}</tr>`,
    )}</tbody></table></div>`;
}
