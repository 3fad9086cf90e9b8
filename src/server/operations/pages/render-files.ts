import { html } from 'hono/html';
import { formatShort } from '../../../charts/format.ts';
import type { Html } from '../../../charts/html.ts';
import type { HeatMap } from '../../../migrations/status/heat-map.ts';
import { formatCount } from './format.ts';

const SHADES = 5;

/** Records by file and day: the darker, the more. What was rejected is underlined, and said in words. */
export function renderFiles({ columns, rows }: HeatMap): Html {
  if (rows.length === 0) return html`<p class="quiet">Nothing is staged yet.</p>`;
  const most = Math.max(1, ...rows.flatMap(({ cells }) => cells.map((cell) => cell?.read ?? 0)));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Records by file and day"><table class="heat">
    <thead><tr><th scope="col">File</th><th scope="col" class="n">Parts</th>${columns.map(
      ({ from, to }) =>
        html`<th scope="col">${shortDay(from)}${from !== to && html`<br>– ${shortDay(to)}`}</th>`,
    )}</tr></thead>
    <tbody>${rows.map(
      ({
        file,
        files,
        parts,
        cells,
      }) => html`<tr><th scope="row">${file}${files > 1 ? html` <span class="quiet">(${files} files)</span>` : ''}</th>
      <td>${formatCount(parts.done)}/${formatCount(parts.staged)}</td>${cells.map((cell) => {
        if (cell === undefined) return html`<td></td>`;
        const shade = Math.max(1, Math.ceil((cell.read / most) * SHADES));
        const rejected = cell.rejected > 0 ? `, ${formatCount(cell.rejected)} rejected` : '';
        return html`<td class="h${shade}${cell.rejected > 0 ? ' off' : ''}" title="${formatCount(cell.read)} records${rejected}">${formatShort(cell.read)}</td>`;
      })}</tr>`,
    )}</tbody></table></div>
    <p class="quiet">Records of imported parts by UTC day of their time. Underlined: some were rejected.</p>`;
}

/** `31 Jan 24` would be longer than a column: `24-01-31`. */
const shortDay = (day: string): string => (/^\d{4}-/.test(day) ? day.slice(2) : day);
