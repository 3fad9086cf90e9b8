import { html } from 'hono/html';
import type { Axis } from './axis.ts';
import { formatNumber, formatShort } from './format.ts';
import type { Html } from './html.ts';
import { locate, type Scale } from './scale.ts';

/** A series as it is drawn. */
export interface PlotSeries {
  readonly name: string;
  readonly values: readonly number[];
  /** A class of render-styles.ts. */
  readonly color: string;
  /** Drawn as a line of dashes: the period before. */
  readonly isEarlier?: boolean;
}

export interface Plot {
  readonly series: readonly PlotSeries[];
  readonly axis: Axis;
  readonly scale: Scale;
  /**
   * Every value has a place of the same width, in the middle of which it is.
   * @default false, the first and the last value are at the edges
   */
  readonly isInPlaces?: boolean;
}

/** The drawing is stretched to the available width; heights are in pixels. */
export const PLOT_WIDTH = 1000;
export const PLOT_HEIGHT = 180;

const COLORS = 8;

/** The first series get a colour each, the others one between them. */
export const pickColor = (index: number): string =>
  index < COLORS ? `insight-${index + 1}` : 'insight-rest';

/** Axes and grid around what is drawn, a legend above where `beside` does not name the series, numbers below. */
export function renderPlot(plot: Plot, drawing: Html, beside?: Html): Html {
  const { scale, series } = plot;
  const hasLegend = series.length > 1 || beside !== undefined;
  return html`<figure class="insight">${hasLegend && renderLegend(series, beside !== undefined)}
    <div class="insight-plot">
      <div class="insight-y" aria-hidden="true">${scale.ticks.map((tick) => html`<span>${formatShort(tick)}</span>`)}</div>
      <svg class="insight-area" viewBox="0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${describe(plot)}">
        <path class="insight-grid" d="${drawGrid(scale)}" vector-effect="non-scaling-stroke"/>${drawing}
      </svg>${renderPointer(plot)}${beside}
      ${renderTicks(plot)}
    </div>${plot.axis.note && html`<p class="insight-note">${plot.axis.note}</p>`}
    ${renderNumbers(plot)}
  </figure>`;
}

function drawGrid(scale: Scale): string {
  return scale.ticks.map((tick) => `M0 ${locate(scale, tick, PLOT_HEIGHT)}H${PLOT_WIDTH}`).join('');
}

/** Closer to an edge than this share of the width, a label is not centred at its tick. */
const EDGE = 0.06;

/** Labels at their places below the plot; on narrow screens every second one, with what is below the one before it. */
function renderTicks({ axis, isInPlaces = false }: Plot): Html {
  const count = axis.labels.length;
  return html`<svg class="insight-x" width="100%" height="${axis.ticks.some(({ below }) => below) ? 36 : 22}" aria-hidden="true">${axis.ticks.map(
    ({ index, label, below }, place) => {
      const share = isInPlaces ? (index + 0.5) / count : count === 1 ? 0.5 : index / (count - 1);
      const anchor = share < EDGE ? 'start' : share > 1 - EDGE ? 'end' : 'middle';
      const x = `${Math.round(share * 10_000) / 100}%`;
      const isMinor = place % 2 === 1;
      const hidden = isMinor ? undefined : axis.ticks[place - 1]?.below;
      const write = (text: string, name: string) =>
        html`<text class="${name}" x="${x}" y="31" text-anchor="${anchor}">${text}</text>`;
      return html`<g class="${isMinor && 'insight-minor'}"><line x1="${x}" x2="${x}" y2="4"/><text x="${x}" y="17" text-anchor="${anchor}">${label}</text>${below ? write(below, '') : hidden && write(hidden, 'insight-moved')}</g>`;
    },
  )}</svg>`;
}

/** Of all labels and series together; more would make the page heavy, and places too narrow to point at. */
const MAX_POINTED = 1600;
const MAX_POINTED_LABELS = 200;

/** What a pointer finds at each label: its values. Without a script, so each place has a text of its own. */
function renderPointer({ series, axis: { labels }, isInPlaces = false }: Plot): Html | undefined {
  const shown = series.slice(0, COLORS);
  if (labels.length > MAX_POINTED_LABELS || labels.length * shown.length > MAX_POINTED) return undefined;
  const places = labels.map((label, index) => {
    const side = index < labels.length / 2 ? '' : 'insight-before';
    const values = shown.map(
      ({ name, color, values: all }) =>
        html`<span><i class="${color}"></i>${name} <b>${formatNumber(all[index] ?? 0)}</b></span>`,
    );
    return html`<div><p class="${side}">${label}${values}</p></div>`;
  });
  return html`<div class="insight-pointer${isInPlaces ? '' : ' insight-edges'}" aria-hidden="true">${places}</div>`;
}

function describe({ series, axis: { labels } }: Plot): string {
  const names = series
    .map(({ name }) => name)
    .slice(0, COLORS)
    .join(', ');
  const more = series.length > COLORS ? ` and ${series.length - COLORS} more` : '';
  return `Chart of ${names}${more} from ${labels[0] ?? ''} to ${labels.at(-1) ?? ''}. The numbers follow in a table.`;
}

/** `isNarrow`: shown only where there is no room for the names beside the plot. */
function renderLegend(series: readonly PlotSeries[], isNarrow: boolean): Html {
  const named = series.slice(0, COLORS);
  const more = series.length - named.length;
  return html`<ul class="insight-legend${isNarrow ? ' insight-narrow' : ''}" aria-hidden="true">${named.map(
    ({ name, color, isEarlier }) =>
      html`<li><span class="insight-key ${color}${isEarlier ? ' insight-earlier' : ''}"></span>${name}</li>`,
  )}${more > 0 ? html`<li><span class="insight-key insight-rest"></span>${more} more</li>` : ''}</ul>`;
}

const MAX_COLUMNS = 12;
const MAX_ROWS = 400;

/** Every number of a plot: for those who cannot see it, and those who want to know exactly. */
function renderNumbers({ series, axis: { labels } }: Plot): Html {
  const shown = series.slice(0, MAX_COLUMNS);
  const rows = labels.slice(-MAX_ROWS);
  const skipped = labels.length - rows.length;
  const left = [
    ...(series.length > shown.length ? [`${series.length - shown.length} more series`] : []),
    ...(skipped > 0 ? [`${skipped} earlier rows`] : []),
  ].join(' and ');
  return html`<details class="insight-numbers"><summary>Numbers</summary><div class="insight-scroll" tabindex="0"><table>
    <thead><tr><td></td>${shown.map(({ name }) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map(
      (label, row) =>
        html`<tr><th scope="row">${label}</th>${shown.map(
          ({ values }) => html`<td>${formatNumber(values[row + skipped] ?? 0)}</td>`,
        )}</tr>`,
    )}</tbody></table></div>${left === '' ? '' : html`<p class="insight-note">Not shown: ${left}.</p>`}</details>`;
}
