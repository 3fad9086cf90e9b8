import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import type { Coverage, CoveredDay } from '../../../migrations/schedule/coverage.ts';
import { formatCount, formatTime } from './format.ts';

type Row = CoveredDay | Coverage['missing'][number];

/** By day: what is in, what came late, and what is missing; the newest first. */
export const renderCoveragePage = (name: string, { days, missing, undated }: Coverage): Html => html`
  <h1>Coverage of <a href="/migrations/${name}">${name}</a></h1>
  <section class="card" aria-label="Records by day">${
    days.length === 0
      ? html`<p>Nothing is imported yet.</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Records by day"><table class="list">
    <thead><tr><th scope="col">Day (UTC)</th><th scope="col" class="n">Records</th><th scope="col" class="n">Delivered</th><th scope="col" class="n">Rejected</th><th scope="col" class="n">Late</th><th scope="col">Taken in (UTC)</th></tr></thead>
    <tbody>${[...days, ...missing].sort((a, b) => (getDay(a) < getDay(b) ? 1 : -1)).map(renderRow)}</tbody></table></div>`
  }
  ${undated > 0 && html`<p>${formatCount(undated)} records have no time that can be read.</p>`}
  <p class="quiet">By the times of the records. Late: they came when a later day was in already.</p></section>`;

const getDay = (row: Row): string => ('day' in row ? row.day : row.from);

function renderRow(row: Row): Html {
  if (!('day' in row))
    return html`<tr><th scope="row">${row.from}${row.from !== row.to && ` to ${row.to}`}</th><td class="n">0</td><td></td><td></td><td></td><td class="unknown">missing</td></tr>`;
  const { day, counts, late, firstAt, lastAt } = row;
  return html`<tr><th scope="row">${day}</th><td class="n">${formatCount(counts.read)}</td><td class="n">${formatCount(counts.delivered)}</td><td class="n">${counts.rejected > 0 ? formatCount(counts.rejected) : ''}</td><td class="n">${late > 0 ? formatCount(late) : ''}</td><td>${formatTime(firstAt)}${firstAt !== lastAt && `, last ${formatTime(lastAt)}`}</td></tr>`;
}
