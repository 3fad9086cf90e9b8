import { type Bar, renderBars } from '../charts/bars.ts';
import { renderColumns } from '../charts/columns.ts';
import { formatDay, formatNumber, formatShare } from '../charts/format.ts';
import { renderLines } from '../charts/lines.ts';
import { type Markup, markup } from '../charts/markup.ts';
import { type PlotSeries, pickColor } from '../charts/plot.ts';
import { AGGREGATED_DISPLAYS, DISPLAYS } from '../insight-query.ts';
import type { InsightData, TrendSeries } from '../insight-results.ts';

type Trends = Extract<InsightData, { insight: 'TRENDS' }>;

const COLUMNS: ReadonlySet<string> = new Set(['ActionsBar', 'ActionsStackedBar', 'ActionsUnstackedBar']);

export function renderTrends({ display, result }: Trends): Markup {
  if (DISPLAYS.some((known) => known === display && AGGREGATED_DISPLAYS.has(known))) {
    return renderTotals(display, result);
  }
  const labels = (result[0]?.days ?? []).map(formatDay);
  const isCompared = result.some(({ compare }) => compare);
  const names = namesOf(result);
  // A line has the same colour in both periods.
  const kinds = [...new Set(result.map(kindOf))];
  const series = result.map((one, index): PlotSeries => {
    const isEarlier = one.compare_label === 'previous';
    const period = isEarlier ? 'before' : 'now';
    const name = names[index] ?? '';
    return {
      name: !isCompared ? name : kinds.length === 1 ? period : `${name}, ${period}`,
      values: one.data,
      color: pickColor(kinds.indexOf(kindOf(one))),
      isEarlier,
    };
  });
  // Periods side by side cannot stand on top of one another.
  return COLUMNS.has(display) && !isCompared ? renderColumns(series, labels) : renderLines(series, labels);
}

const kindOf = ({ action, label }: TrendSeries): string => `${String(action['order'])} ${label}`;

/** Labels as people chose them; of series that would have the same, what is counted tells them apart. */
function namesOf(result: readonly TrendSeries[]): string[] {
  const names = result.map(({ label, action, breakdown_value: value }) => {
    const custom = action['custom_name'];
    return typeof custom === 'string' && custom !== '' && value === undefined ? custom : label;
  });
  return names.map((name, index) => {
    const order = result[index]?.action['order'];
    const isShared = names.some((other, place) => other === name && result[place]?.action['order'] !== order);
    const math = String(result[index]?.action['math'] ?? 'total').replaceAll('_', ' ');
    return isShared ? `${name} (${math})` : name;
  });
}

const totalOf = ({ aggregated_value: total }: TrendSeries): number => total ?? 0;

/** More than people read; the greatest come first. */
const MAX_TOTALS = 50;

function renderTotals(display: string, result: readonly TrendSeries[]): Markup {
  if (display === 'BoldNumber') return renderNumber(result);
  const isWhole = display === 'ActionsPie';
  const sum = result.reduce((all, series) => all + Math.max(0, totalOf(series)), 0);
  const most = result.reduce((greatest, series) => Math.max(greatest, totalOf(series)), 0);
  const names = namesOf(result);
  const totals = result.slice(0, MAX_TOTALS).map((series, index): Bar => {
    const name = names[index] ?? '';
    return {
      label: series.compare_label === 'previous' ? `${name}, before` : name,
      value: formatNumber(totalOf(series)),
      ...(isWhole ? { aside: formatShare(totalOf(series), sum) } : {}),
      share: totalOf(series) / ((isWhole ? sum : most) || 1),
    };
  });
  const more = result.length - totals.length;
  return markup`<div class="insight">${display === 'ActionsTable' ? renderTable(totals) : renderBars(totals)}${
    more > 0 ? markup`<p class="insight-note">Not shown: ${more} more.</p>` : ''
  }</div>`;
}

const renderTable = (totals: readonly Bar[]): Markup =>
  markup`<div class="insight-scroll" tabindex="0"><table>
    <thead><tr><th scope="col">Series</th><th scope="col">Total</th></tr></thead>
    <tbody>${totals.map(
      ({ label, value }) => markup`<tr><th scope="row">${label}</th><td>${value}</td></tr>`,
    )}</tbody></table></div>`;

function renderNumber(result: readonly TrendSeries[]): Markup {
  const now = result.filter((series) => series.compare_label !== 'previous');
  const names = namesOf(now);
  return markup`<div class="insight insight-totals">${now.map((series, index) => {
    const before = result[now.length + index];
    return markup`<p class="insight-total"><strong>${formatNumber(totalOf(series))}</strong>${
      now.length > 1 ? markup` <span class="insight-label">${names[index]}</span>` : ''
    }${before && markup` <span class="insight-note">${changeOf(totalOf(series), totalOf(before))}</span>`}</p>`;
  })}</div>`;
}

function changeOf(now: number, before: number): string {
  const than = `${formatNumber(before)} in the period before`;
  if (before === 0) return than;
  const change = (now - before) / Math.abs(before);
  if (change === 0) return 'as many as in the period before';
  return `${change > 0 ? '▲' : '▼'} ${formatShare(Math.abs(change), 1)} from ${than}`;
}
