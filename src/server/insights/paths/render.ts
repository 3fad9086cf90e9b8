import { html } from 'hono/html';
import { renderBars } from '../../../charts/bars.ts';
import { formatDuration, formatNumber } from '../../../charts/format.ts';
import type { Html } from '../../../charts/html.ts';
import type { PathEdge } from './model.ts';

/** What followed what, step by step, most sessions first. */
export function renderPaths(edges: readonly PathEdge[]): Html {
  const most = edges.reduce((greatest, { value }) => Math.max(greatest, value), 1);
  const steps = new Map<number, PathEdge[]>();
  for (const edge of edges) {
    const step = Number.parseInt(edge.source, 10);
    steps.set(step, [...(steps.get(step) ?? []), edge]);
  }
  return html`<div class="insight">${[...steps]
    .sort(([a], [b]) => a - b)
    .map(
      ([step, group]) =>
        html`<h3 class="insight-heading">Step ${step} to ${step + 1}</h3>${renderBars(
          group.map(({ source, target, value, average_conversion_time: ms }) => ({
            label: `${getItem(source)} → ${getItem(target)}`,
            value: formatNumber(value),
            aside: formatDuration(ms / 1000),
            share: value / most,
          })),
        )}`,
    )}</div>`;
}

/** `2_/about` → `/about` */
const getItem = (key: string): string => key.slice(key.indexOf('_') + 1);
