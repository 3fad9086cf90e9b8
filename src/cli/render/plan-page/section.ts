import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import { counted, printable } from '../../../migrations/plan/format-text.ts';

export const section = (title: string, body: Html): Html => html`<section><h2>${title}</h2>${body}</section>`;

export function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): Html {
  return html`<div class="scroll" tabindex="0"><table>
    <thead><tr>${header.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td${isLong(cell) && html` class="long"`}>${printable(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** Beside others, a text of many words would have a word a line. */
const isLong = (cell: string): boolean => cell.length > 40;

export const renderMore = (count: number, noun: string) =>
  count > 0 ? html`<p class="quiet">and ${counted(count, `more ${noun}`)}</p>` : '';
