import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import type { ScheduleView } from '../../../migrations/schedule/schedules.ts';
import { describeWaiting } from '../../../migrations/schedule/settling.ts';
import { formatCount, formatTime } from './format.ts';
import type { Fragments } from './page.ts';

/** `migrations`: names of those that have begun, and so have pages. */
export const renderSchedules = (
  all: readonly ScheduleView[],
  migrations: ReadonlySet<string>,
): Fragments => ({
  schedules: all.length === 0 ? EMPTY : renderTable(all, migrations),
});

export const renderSchedulesCard = (fragments: Fragments): Html => html`
  <section class="card" aria-labelledby="h-schedules"><h2 id="h-schedules">Schedules</h2><div class="scroll" id="schedules" tabindex="0" role="region" aria-labelledby="h-schedules">${fragments['schedules']}</div></section>`;

const EMPTY = html`<p class="quiet">No migration has a schedule. Give one a schedule with <code>backhaul schedule set &lt;manifest&gt;</code>.</p>`;

const renderTable = (
  all: readonly ScheduleView[],
  migrations: ReadonlySet<string>,
): Html => html`<table class="list schedules">
  <thead><tr><th scope="col">Migration</th><th scope="col">State</th><th scope="col">Schedule</th><th scope="col">Next run (UTC)</th><th scope="col">Last run (UTC)</th><th scope="col">Result</th></tr></thead>
  <tbody>${all.map((schedule) => {
    const { migration, state, held, cron, timezone, lastRun } = schedule;
    return html`<tr>
    <th scope="row">${migrations.has(migration) ? html`<a href="/migrations/${migration}">${migration}</a> <a class="quiet" href="/migrations/${migration}/coverage" aria-label="Coverage of ${migration}">coverage</a>` : migration}</th>
    <td><span class="badge ${held ?? state}">${held === undefined ? state : `held: ${held}`}</span></td>
    <td>${cron === '' ? '' : html`<code>${cron}</code> <span class="quiet">${timezone}</span>`}</td>
    ${renderNext(schedule)}
    ${lastRun ? html`<td class="when" data-before="last run">${formatTime(lastRun.endedAt)}</td>` : html`<td class="when" data-before="last run">none yet</td>`}
    <td>${renderResult(schedule)}</td></tr>`;
  })}</tbody></table>`;

const renderNext = ({ next, overdueSince, runningSince }: ScheduleView): Html => {
  if (runningSince !== undefined)
    return html`<td class="when"><span class="running">running since ${formatTime(runningSince)}</span></td>`;
  if (overdueSince !== undefined)
    return html`<td class="when"><span class="unknown">due since ${formatTime(overdueSince)}</span></td>`;
  return next === undefined
    ? html`<td></td>`
    : html`<td class="when" data-before="next">${formatTime(next)}</td>`;
};

type Run = NonNullable<ScheduleView['lastRun']>;

const OUTCOMES: Readonly<Record<Run['outcome'], string>> = {
  done: 'done',
  nothing_new: 'nothing new',
  busy: 'run by another process',
  held: 'held',
  unable: 'not run',
  failed: 'failed',
};

function renderResult({ lastRun, reason, runningSince }: ScheduleView): Html | string {
  if (lastRun === undefined) return reason;
  if (runningSince !== undefined)
    return html`<span class="quiet">before: ${OUTCOMES[lastRun.outcome]}</span>`;
  const { outcome, files, missed, failures, succeededAt } = lastRun;
  const notes = [
    ...(files > 0 ? [`${formatCount(files)} new ${files === 1 ? 'file' : 'files'}`] : []),
    ...(missed > 0 ? [`${formatCount(missed)} missed${outcome === 'unable' ? '' : ' before'}`] : []),
    ...(failures > 1 ? [`${formatCount(failures)} failures in a row`] : []),
    ...(failures > 0 && succeededAt !== undefined ? [`last success ${formatTime(succeededAt)}`] : []),
    ...(lastRun.reason === '' ? [] : [lastRun.reason]),
    ...(lastRun.waiting ? [describeWaiting(lastRun.waiting)] : []),
  ];
  return html`<span class="${(outcome === 'failed' || outcome === 'unable') && 'damaged'}">${OUTCOMES[outcome]}</span>${notes.length > 0 && html` <span class="quiet">${notes.join('; ')}</span>`}`;
}
