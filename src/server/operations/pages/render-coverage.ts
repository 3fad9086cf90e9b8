import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import type { Coverage, CoveredDay } from '../../../migrations/schedule/coverage.ts';
import { describeWait } from '../../../migrations/schedule/describe-wait.ts';
import { describeWaiting } from '../../../migrations/schedule/settling.ts';
import { formatCount, formatTime } from './format.ts';

type Row = CoveredDay | Coverage['missing'][number];

/** By day: what is in, what came late, and what is missing; the newest first. */
export const renderCoveragePage = (
  name: string,
  { days, missing, undated, waiting, schedule }: Coverage,
): Html => html`
  <h1>Coverage of ${schedule ? name : html`<a href="/migrations/${name}">${name}</a>`}</h1>
  <section class="card" aria-label="Records by day">${
    days.length === 0
      ? html`<p>Nothing is imported yet.${schedule && ` ${describeWait(schedule, (iso) => `${formatTime(iso)} UTC`)}`}</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Records by day"><table class="list">
    <thead><tr><th scope="col">Day (UTC)</th><th scope="col" class="n">Records</th><th scope="col" class="n">Delivered</th><th scope="col" class="n">Rejected</th><th scope="col" class="n">Late</th><th scope="col">Taken in (UTC)</th></tr></thead>
    <tbody>${[...days, ...missing].sort((a, b) => (getDay(a) < getDay(b) ? 1 : -1)).map(renderRow)}</tbody></table></div>`
  }
  ${undated > 0 && html`<p>${formatCount(undated)} ${undated === 1 ? 'record has' : 'records have'} no time that can be read.</p>`}
  ${waiting && html`<p>${describeWaiting(waiting)}.</p>`}
  <p class="quiet">By the times of the records. Late: they came when a later day was in already.</p></section>`;

const getDay = (row: Row): string => ('day' in row ? row.day : row.from);

function renderRow(row: Row): Html {
  if (!('day' in row))
    return html`<tr><th scope="row">${row.from}${row.from !== row.to && ` to ${row.to}`}</th>${renderCount('records', 0)}<td></td><td></td><td></td><td class="unknown">missing</td></tr>`;
  const { day, counts, late, firstAt, lastAt } = row;
  return html`<tr><th scope="row">${day}</th>${renderCount('records', counts.read)}${renderCount('delivered', counts.delivered)}${renderCount('rejected', counts.rejected || undefined)}${renderCount('late', late || undefined)}<td>${formatTime(firstAt)}${firstAt !== lastAt && `, last ${formatTime(lastAt)}`}</td></tr>`;
}

/** On a phone the head of the table is hidden, and each number has its word behind it. */
const renderCount = (of: string, count: number | undefined): Html =>
  count === undefined
    ? html`<td class="n"></td>`
    : html`<td class="n" data-of="${of}">${formatCount(count)}</td>`;
