import { html } from 'hono/html';
import { shorten } from '../lib/preview.ts';
import type { Axis } from './axis.ts';
import { formatShort } from './format.ts';
import type { Html } from './html.ts';
import { PLOT_HEIGHT, PLOT_WIDTH, type Plot, type PlotSeries, renderPlot } from './plot.ts';
import { createScale, locate } from './scale.ts';

/** As many names as find room beside the ends of the lines. */
const MAX_NAMED = 5;
const MAX_CHARACTERS = 20;
const NAMES_WIDTH = 136;
const NAME_HEIGHT = 15;

/** More lines cannot be distinguished. */
const MAX_LINES = 30;

/** Lines over time, each named where it ends. */
export function renderLines(series: readonly PlotSeries[], axis: Axis): Html {
  const drawn = series.slice(0, MAX_LINES);
  const plot: Plot = { series, axis, scale: createScale(drawn.flatMap(({ values }) => values)) };
  const lines = drawn.map((one) => renderLine(plot, one));
  // Later lines would hide the first, which is the greatest.
  return renderPlot(plot, html`${lines.reverse()}`, renderNames(plot));
}

const computeX = (index: number, count: number): number =>
  count === 1 ? PLOT_WIDTH / 2 : Math.round((index / (count - 1)) * PLOT_WIDTH * 100) / 100;

function renderLine({ scale, axis }: Plot, { values, color, isEarlier }: PlotSeries): Html {
  const points = values.map(
    (value, index) => `${computeX(index, axis.labels.length)} ${locate(scale, value, PLOT_HEIGHT)}`,
  );
  const dashes = isEarlier ? ' insight-earlier' : '';
  return html`<g class="${color}"><path class="insight-line${dashes}" d="M${points.join('L')}" vector-effect="non-scaling-stroke"/>
    <path class="insight-dot" d="M${points.at(-1) ?? ''}h.01" vector-effect="non-scaling-stroke"/></g>`;
}

/** Names and last values at the height where the lines end, moved apart where they would overlap. */
function renderNames({ series, scale }: Plot): Html | undefined {
  if (series.length > MAX_NAMED) return undefined;
  const names = series
    .map((one) => ({ ...one, last: one.values.at(-1) ?? 0 }))
    .map((one) => ({ ...one, y: locate(scale, one.last, PLOT_HEIGHT) }))
    .sort((a, b) => a.y - b.y);
  const spread = spreadOut(names.map(({ y }) => y));
  return html`<svg class="insight-names" width="${NAMES_WIDTH}" height="${PLOT_HEIGHT}" aria-hidden="true">${names.map(
    ({ name, color, last }, index) => {
      const value = formatShort(last);
      return html`<text class="${color}" x="8" y="${spread[index] ?? 0}" dy=".35em"><tspan class="insight-last">${value}</tspan> ${shorten(name, MAX_CHARACTERS - value.length)}</text>`;
    },
  )}</svg>`;
}

/** Heights from top to bottom, at least a line of text apart and inside of the plot. */
export function spreadOut(heights: readonly number[]): number[] {
  const spread: number[] = [];
  for (const height of heights)
    spread.push(Math.max(height, (spread.at(-1) ?? Number.NEGATIVE_INFINITY) + NAME_HEIGHT));
  let limit = PLOT_HEIGHT;
  return spread
    .reverse()
    .map((height) => {
      const moved = Math.min(height, limit);
      limit = moved - NAME_HEIGHT;
      return moved;
    })
    .reverse();
}
