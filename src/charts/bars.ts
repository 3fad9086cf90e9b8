import { html } from 'hono/html';
import type { Html } from './html.ts';

export interface Bar {
  readonly label: string;
  /** As it is to be read. */
  readonly value: string;
  /** Beside the value, quieter. */
  readonly aside?: string;
  /** Below the bar. */
  readonly note?: string;
  /** Length of the bar, from 0 to 1. */
  readonly share: number;
  /** @default the first colour */
  readonly color?: string;
}

/** Bars one below the other, each under its name and number: a list that reads well without them, too. */
export function renderBars(bars: readonly Bar[]): Html {
  return html`<ol class="insight-bars">${bars.map(
    ({ label, value, aside, note, share, color = 'insight-1' }) =>
      html`<li><div class="insight-row"><span class="insight-label">${label}</span> <span class="insight-value">${value}${aside && html` <small>${aside}</small>`}</span></div>
        <svg class="insight-bar ${color}" width="100%" height="8" aria-hidden="true"><rect class="insight-track" width="100%" height="8" rx="2"/><rect fill="currentColor" width="${percent(share)}" height="8" rx="2"/></svg>${note && html`<p class="insight-note">${note}</p>`}</li>`,
  )}</ol>`;
}

const percent = (share: number): string => `${Math.round(Math.min(1, Math.max(0, share)) * 1000) / 10}%`;
