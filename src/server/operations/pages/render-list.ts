import { html } from 'hono/html';
import { formatDuration, formatWholeShare } from '../../../charts/format.ts';
import type { Html } from '../../../charts/html.ts';
import type { MigrationStatus } from '../../../migrations/status/view.ts';
import { formatCount, formatTime } from './format.ts';
import type { Fragments } from './page.ts';

/** All migrations: those that run first, and those last of which only their counts are left. */
export function renderList(all: readonly MigrationStatus[]): Fragments {
  const sorted = [...all].sort((a, b) => rank(a) - rank(b) || (a.since < b.since ? 1 : -1));
  return { list: sorted.length === 0 ? EMPTY : renderTable(sorted) };
}

export const renderListPage = (fragments: Fragments): Html => html`
  <h1>Migrations</h1>
  <section class="card" id="list" aria-label="All migrations">${fragments['list']}</section>`;

const rank = ({ state }: MigrationStatus): number => (state === 'running' ? 0 : state === 'removed' ? 2 : 1);

const EMPTY = html`<p>There are no migrations yet. Start one with <code>backhaul run &lt;manifest&gt;</code>.</p>`;

const renderTable = (all: readonly MigrationStatus[]): Html => html`<table class="list">
  <thead><tr><th scope="col">Migration</th><th scope="col">State</th><th scope="col" class="n">Records</th><th scope="col" class="n">Rejected</th><th scope="col" class="n">Left</th><th scope="col" class="n">Since (UTC)</th></tr></thead>
  <tbody>${all.map(
    ({ migration, state, reason, counts, records, run, since }) => html`<tr>
    <th scope="row"><a href="/migrations/${migration}">${migration}</a></th>
    <td><span class="badge ${state}">${state}</span>${state === 'damaged' ? html` <span class="quiet">${reason}</span>` : ''}</td>
    <td class="n">${state === 'removed' ? formatCount(counts.read) : `${formatCount(counts.read)} of ${formatCount(records.staged)} (${formatWholeShare(counts.read, records.staged)})`}</td>
    <td class="n">${counts.rejected === 0 ? '' : `${formatCount(counts.rejected)} rejected`}</td>
    <td class="n">${run?.secondsLeft === undefined ? '' : `${formatDuration(run.secondsLeft)} left`}</td>
    <td class="n quiet">${formatTime(since)}</td></tr>`,
  )}</tbody></table>`;
