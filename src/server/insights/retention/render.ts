import { html } from 'hono/html';
import { formatDay, formatNumber, formatWholeShare } from '../../../charts/format.ts';
import type { Html } from '../../../charts/html.ts';
import type { RetentionRow } from './model.ts';

const SHADES = 9;

/** A row for each period: its persons, and the share of them that came back so many periods later. */
export function renderRetention(all: readonly RetentionRow[]): Html {
  const values = [...new Set(all.map(({ breakdown }) => breakdown))];
  return html`${values.map((value) =>
    renderTable(
      all.filter(({ breakdown }) => breakdown === value),
      value,
    ),
  )}`;
}

function renderTable(all: readonly RetentionRow[], value: string | undefined): Html {
  const rows = dropEmptyStart(all);
  const period = rows[0]?.label.split(' ')[0] ?? '';
  return html`<div class="insight insight-scroll" tabindex="0"><table class="insight-retention">${value === undefined ? '' : html`<caption>${value}</caption>`}
    <thead><tr><td></td><th scope="col">People</th>${rows
      .slice(1)
      .map((_, index) => html`<th scope="col">${period} ${index + 1}</th>`)}</tr></thead>
    <tbody>${rows.map(renderRow)}</tbody></table></div>`;
}

/** Periods before the first person came say nothing. */
function dropEmptyStart(rows: readonly RetentionRow[]): readonly RetentionRow[] {
  const first = rows.findIndex(({ values }) => values.some(({ count }) => count > 0));
  return first === -1 ? rows : rows.slice(first);
}

function renderRow({ date, values }: RetentionRow): Html {
  const [people = { count: 0 }, ...later] = values;
  return html`<tr><th scope="row">${renderDay(date)}</th><td>${formatNumber(people.count)}</td>${later.map(
    ({ count }) =>
      html`<td class="insight-shade-${Math.ceil((count / (people.count || 1)) * SHADES)}">${people.count === 0 ? '' : formatWholeShare(count, people.count)}</td>`,
  )}</tr>`;
}

/** Whole days need no time. */
function renderDay(date: string): string {
  const [day = '', time = ''] = date.split('T');
  return formatDay(time.startsWith('00:00') ? day : `${day} ${time.slice(0, 8)}`);
}
