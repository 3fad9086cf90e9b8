import { html } from 'hono/html';
import type { Html } from '../../charts/html.ts';
import { getKind, type InsightData } from './registry.ts';
import type { InsightResult } from './results.ts';

/** Each result is rendered once: while it is kept, it is the same object for every viewer. */
const rendered = new WeakMap<InsightData, string>();

/**
 * Safe HTML of a result, failed ones too, to be placed below a heading. It needs INSIGHT_STYLES once a page,
 * and no script.
 */
export function renderInsight(result: InsightResult): string {
  if (result.kind === 'failed') {
    const failure = html`<p class="insight insight-none"><strong>${result.reason === 'pending' ? 'Not ready yet.' : 'This insight cannot be shown.'}</strong> ${result.message}</p>`;
    return toText(failure);
  }
  const { data } = result;
  const text = rendered.get(data) ?? toText(renderData(data));
  rendered.set(data, text);
  return text;
}

/** Charts have nothing to wait for. */
function toText(piece: Html): string {
  if (piece instanceof Promise) throw new TypeError('a chart must render synchronously');
  return piece.toString();
}

function renderData(data: InsightData): Html {
  const kind = getKind(data.insight);
  if (kind.isEmpty(data)) return html`<p class="insight insight-none">No matching events in this time.</p>`;
  return kind.render(data);
}
