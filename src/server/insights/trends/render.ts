import { html } from 'hono/html';
import { type Bar, renderBars } from '../../../charts/bars.ts';
import { formatNumber, formatShare } from '../../../charts/format.ts';
import type { Html } from '../../../charts/html.ts';
import { renderOverTime } from '../../../charts/over-time.ts';
import { type PlotSeries, pickColor } from '../../../charts/plot.ts';
import type { TrendSeries, TrendsData } from './model.ts';
import { AGGREGATED_DISPLAYS, DISPLAYS } from './model.ts';

const COLUMNS: ReadonlySet<string> = new Set(['ActionsBar', 'ActionsStackedBar', 'ActionsUnstackedBar']);

export function renderTrends({ display, smoothing = 1, result }: TrendsData): Html {
  if (DISPLAYS.some((known) => known === display && AGGREGATED_DISPLAYS.has(known))) {
    return renderTotals(display, result);
  }
  const isCompared = result.some(({ compare }) => compare);
  const names = nameSeries(result);
  // A line has the same colour in both periods.
  const kinds = [...new Set(result.map(identifyLine))];
  const series = result.map((one, index): PlotSeries => {
    const isEarlier = one.compare_label === 'previous';
    const period = isEarlier ? 'before' : 'now';
    const name = names[index] ?? '';
    return {
      name: !isCompared ? name : kinds.length === 1 ? period : `${name}, ${period}`,
      values: one.data,
      color: pickColor(kinds.indexOf(identifyLine(one))),
      isEarlier,
    };
  });
  // Periods that are compared cannot be stacked.
  const form = COLUMNS.has(display) && !isCompared ? 'columns' : 'lines';
  const plot = renderOverTime(form, series, result[0]?.days ?? []);
  if (smoothing === 1) return plot;
  return html`${plot}<p class="insight-note">Each point is the mean of ${smoothing} intervals, its own and those before it, rounded down.</p>`;
}

const identifyLine = ({ action, label }: TrendSeries): string => `${String(action?.['order'])} ${label}`;

/** Custom names, else labels; series with the same label are distinguished by what they count. */
function nameSeries(result: readonly TrendSeries[]): string[] {
  const names = result.map(({ label, action, breakdown_value: value }) => {
    const custom = action?.['custom_name'];
    return typeof custom === 'string' && custom !== '' && value === undefined ? custom : label;
  });
  return names.map((name, index) => {
    const order = result[index]?.action?.['order'];
    const isShared = names.some(
      (other, place) => other === name && result[place]?.action?.['order'] !== order,
    );
    const math = String(result[index]?.action?.['math'] ?? 'total').replaceAll('_', ' ');
    return isShared ? `${name} (${math})` : name;
  });
}

const getTotal = ({ aggregated_value: total }: TrendSeries): number => total ?? 0;

/** The greatest come first. */
const MAX_TOTALS = 50;

function renderTotals(display: string, result: readonly TrendSeries[]): Html {
  if (display === 'BoldNumber') return renderNumber(result);
  const isWhole = display === 'ActionsPie';
  const sum = result.reduce((all, series) => all + Math.max(0, getTotal(series)), 0);
  const most = result.reduce((greatest, series) => Math.max(greatest, getTotal(series)), 0);
  const names = nameSeries(result);
  const totals = result.slice(0, MAX_TOTALS).map((series, index): Bar => {
    const name = names[index] ?? '';
    return {
      label: series.compare_label === 'previous' ? `${name}, before` : name,
      value: formatNumber(getTotal(series)),
      ...(isWhole ? { aside: formatShare(getTotal(series), sum) } : {}),
      share: getTotal(series) / ((isWhole ? sum : most) || 1),
    };
  });
  const more = result.length - totals.length;
  return html`<div class="insight">${display === 'ActionsTable' ? renderTable(totals) : renderBars(totals)}${
    more > 0 ? html`<p class="insight-note">Not shown: ${more} more.</p>` : ''
  }</div>`;
}

const renderTable = (totals: readonly Bar[]): Html =>
  html`<div class="insight-scroll" tabindex="0"><table>
    <thead><tr><th scope="col">Series</th><th scope="col">Total</th></tr></thead>
    <tbody>${totals.map(
      ({ label, value }) => html`<tr><th scope="row">${label}</th><td>${value}</td></tr>`,
    )}</tbody></table></div>`;

function renderNumber(result: readonly TrendSeries[]): Html {
  const now = result.filter((series) => series.compare_label !== 'previous');
  const names = nameSeries(now);
  return html`<div class="insight insight-totals">${now.map((series, index) => {
    const before = result[now.length + index];
    return html`<p class="insight-total"><strong>${formatNumber(getTotal(series))}</strong>${
      now.length > 1 ? html` <span class="insight-label">${names[index]}</span>` : ''
    }${before && html` <span class="insight-note">${renderChange(getTotal(series), getTotal(before))}</span>`}</p>`;
  })}</div>`;
}

function renderChange(now: number, before: number): string {
  const than = `${formatNumber(before)} in the period before`;
  if (before === 0) return than;
  const change = (now - before) / Math.abs(before);
  if (change === 0) return 'as many as in the period before';
  return `${change > 0 ? '▲' : '▼'} ${formatShare(Math.abs(change), 1)} from ${than}`;
}
