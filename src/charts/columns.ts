import { html } from 'hono/html';
import type { Axis } from './axis.ts';
import type { Html } from './html.ts';
import { renderLines } from './lines.ts';
import { PLOT_HEIGHT, PLOT_WIDTH, type Plot, type PlotSeries, renderPlot } from './plot.ts';
import { createScale, locate } from './scale.ts';

/** More would be too thin to see, and lines take less to draw. */
const MAX_RECTANGLES = 3000;

/** Share of its place that a column fills. */
const FILLED = 0.8;

/** Columns over time, the series on top of one another; what is below zero hangs down. */
export function renderColumns(series: readonly PlotSeries[], axis: Axis): Html {
  const { labels } = axis;
  if (series.length * labels.length > MAX_RECTANGLES) return renderLines(series, axis);
  const columns = labels.map((_, index) => stack(series.map(({ values }) => values[index] ?? 0)));
  const scale = createScale(columns.flat().flatMap(({ from, to }) => [from, to]));
  const plot: Plot = { series, axis, scale, isInPlaces: true };
  const place = PLOT_WIDTH / labels.length;
  const drawing = columns.map((parts, index) =>
    parts.map(({ from, to }, which) => {
      const one = series[which];
      if (from === to || one === undefined) return '';
      const [top, bottom] = [Math.max(from, to), Math.min(from, to)].map((value) =>
        locate(scale, value, PLOT_HEIGHT),
      );
      return html`<rect class="${one.color}" fill="currentColor" x="${round((index + (1 - FILLED) / 2) * place)}" y="${top}" width="${round(place * FILLED)}" height="${round((bottom ?? 0) - (top ?? 0))}"/>`;
    }),
  );
  return renderPlot(plot, html`${drawing}`);
}

interface Part {
  readonly from: number;
  readonly to: number;
}

/** Values on top of one another, those below zero beneath. */
export function stack(values: readonly number[]): Part[] {
  let [above, below] = [0, 0];
  return values.map((value) => {
    if (value < 0) {
      below += value;
      return { from: below - value, to: below };
    }
    above += value;
    return { from: above - value, to: above };
  });
}

const round = (value: number): number => Math.round(value * 100) / 100;
