import { renderBars } from '../charts/bars.ts';
import { formatDuration, formatNumber, formatShare } from '../charts/format.ts';
import { type Markup, markup } from '../charts/markup.ts';
import type { FunnelStep } from '../insight-results.ts';

export function renderFunnel(result: readonly FunnelStep[] | readonly (readonly FunnelStep[])[]): Markup {
  return isBrokenDown(result) ? renderValues(result) : renderSteps(result);
}

const isBrokenDown = (
  result: readonly FunnelStep[] | readonly (readonly FunnelStep[])[],
): result is readonly (readonly FunnelStep[])[] => Array.isArray(result[0]);

const nameOf = ({ name, custom_name: custom, order }: FunnelStep): string =>
  `${order + 1}. ${custom || name}`;

function renderSteps(steps: readonly FunnelStep[]): Markup {
  const entered = steps[0]?.count ?? 0;
  return markup`<div class="insight">${renderBars(
    steps.map((step, index) => ({
      label: nameOf(step),
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

/** A row for each value of the breakdown: people at each step, and how many of the first these are. */
function renderValues(result: readonly (readonly FunnelStep[])[]): Markup {
  return markup`<div class="insight insight-scroll" tabindex="0"><table>
    <thead><tr><td></td>${(result[0] ?? []).map((step) => markup`<th scope="col">${nameOf(step)}</th>`)}</tr></thead>
    <tbody>${result.map(
      (steps) =>
        markup`<tr><th scope="row">${steps[0]?.breakdown_value?.join(', ') || 'none'}</th>${steps.map(
          ({ count }, index) =>
            markup`<td>${formatNumber(count)}${index > 0 ? markup` <small>${formatShare(count, steps[0]?.count ?? 0)}</small>` : ''}</td>`,
        )}</tr>`,
    )}</tbody></table></div>`;
}
