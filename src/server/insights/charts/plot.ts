import { html } from 'hono/html';
import type { Html } from '../insight-kind.ts';
import { formatNumber, formatShort } from './format.ts';
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
  /** One for each value. */
  readonly labels: readonly string[];
  readonly scale: Scale;
  /**
   * Labels every value below the plot, where there is room.
   * @default false, only the ends are labelled
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
      </svg>${beside}
      ${renderLabels(plot)}
    </div>
    ${renderNumbers(plot)}
  </figure>`;
}

function drawGrid(scale: Scale): string {
  return scale.ticks.map((tick) => `M0 ${locate(scale, tick, PLOT_HEIGHT)}H${PLOT_WIDTH}`).join('');
}

/** More would run into one another on a phone. */
const MAX_PLACES = 8;

function renderLabels({ labels, isInPlaces }: Plot): Html {
  const each = isInPlaces && labels.length <= MAX_PLACES;
  const shown = each ? labels : pickEnds(labels);
  return html`<div class="insight-x${each ? ' insight-each' : ''}" aria-hidden="true">${shown.map((label) => html`<span>${label}</span>`)}</div>`;
}

/** The labels that fit exactly: both ends, and the middle where there is one. */
function pickEnds(labels: readonly string[]): readonly string[] {
  if (labels.length <= 2) return labels;
  const middle = labels.length >= 5 && labels.length % 2 === 1 ? [labels[(labels.length - 1) / 2] ?? ''] : [];
  return [labels[0] ?? '', ...middle, labels.at(-1) ?? ''];
}

function describe({ series, labels }: Plot): string {
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
function renderNumbers({ series, labels }: Plot): Html {
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
