import { formatDay, formatNumber, formatWholeShare } from '../charts/format.ts';
import { type Markup, markup } from '../charts/markup.ts';
import type { RetentionRow } from '../insight-results.ts';

const SHADES = 9;

/** A row for each period: its people, and the share of them that came back so many periods later. */
export function renderRetention(rows: readonly RetentionRow[]): Markup {
  const period = rows[0]?.label.split(' ')[0] ?? '';
  return markup`<div class="insight insight-scroll" tabindex="0"><table class="insight-retention">
    <thead><tr><td></td><th scope="col">People</th>${rows
      .slice(1)
      .map((_, index) => markup`<th scope="col">${period} ${index + 1}</th>`)}</tr></thead>
    <tbody>${rows.map(renderRow)}</tbody></table></div>`;
}

function renderRow({ date, values }: RetentionRow): Markup {
  const [people = { count: 0 }, ...later] = values;
  return markup`<tr><th scope="row">${dayOf(date)}</th><td>${formatNumber(people.count)}</td>${later.map(
    ({ count }) =>
      markup`<td class="insight-shade-${Math.ceil((count / (people.count || 1)) * SHADES)}">${people.count === 0 ? '' : formatWholeShare(count, people.count)}</td>`,
  )}</tr>`;
}

/** Whole days need no time. */
function dayOf(date: string): string {
  const [day = '', time = ''] = date.split('T');
  return formatDay(time.startsWith('00:00') ? day : `${day} ${time.slice(0, 8)}`);
}
