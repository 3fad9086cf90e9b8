import { html } from 'hono/html';
import { renderBars } from '../../../charts/bars.ts';
import { formatDuration, formatShare, formatWholeShare } from '../../../charts/format.ts';
import type { Html } from '../../../charts/html.ts';
import { describeTrouble } from '../../../migrations/notify/find-trouble.ts';
import type { MigrationView, ReasonView } from '../../../migrations/status/view.ts';
import { type Action, listActions } from '../actions.ts';
import { formatBytes, formatCount, formatTime, toWords } from './format.ts';
import type { Fragments } from './page.ts';
import { renderErrors } from './render-errors.ts';
import { renderFiles } from './render-files.ts';
import { renderPlan } from './render-plan.ts';
import { renderThroughput } from './render-throughput.ts';
import { renderVerification } from './render-verification.ts';

/** Who looks at a page: `token` is that of an operator's forms. */
export interface Reader {
  readonly token: string | undefined;
}

export const renderMigration = (view: MigrationView, reader: Reader): Fragments => ({
  state: renderState(view),
  actions: renderActions(view, reader),
  figures: renderFigures(view),
  throughput: renderThroughput(view),
  reasons: renderReasons(view),
  files: renderFiles(view.heatMap),
  plan: renderPlan(view),
  errors: renderErrors(view),
  verification: renderVerification(view),
  history: renderHistory(view),
});

/** `notice`: what became of the action that led here. */
export const renderMigrationPage = (name: string, parts: Fragments, notice?: string): Html => html`
  <h1>${name}</h1>
  ${notice !== undefined && html`<p class="notice" role="alert">${notice}</p>`}
  <div id="state" role="status">${parts['state']}</div>
  <div id="actions">${parts['actions']}</div>
  <section class="card" aria-labelledby="h-figures"><h2 id="h-figures">Progress</h2><div id="figures">${parts['figures']}</div></section>
  <div class="two">
    <section class="card" aria-labelledby="h-throughput"><h2 id="h-throughput">Throughput</h2><div id="throughput">${parts['throughput']}</div></section>
    <section class="card" aria-labelledby="h-reasons"><h2 id="h-reasons">Skipped and rejected</h2><div id="reasons">${parts['reasons']}</div></section>
  </div>
  <section class="card" aria-labelledby="h-files"><h2 id="h-files">Files and days</h2><div id="files">${parts['files']}</div></section>
  <div class="two">
    <section class="card" aria-labelledby="h-verification"><h2 id="h-verification">Report and verification</h2><div id="verification">${parts['verification']}</div></section>
    <section class="card" aria-labelledby="h-plan"><h2 id="h-plan">Plan, by the manifest</h2><div id="plan">${parts['plan']}</div></section>
  </div>
  <div class="two">
    <section class="card" aria-labelledby="h-errors"><h2 id="h-errors">Last errors</h2><div id="errors">${parts['errors']}</div></section>
    <section class="card" aria-labelledby="h-history"><h2 id="h-history">States</h2><div id="history">${parts['history']}</div></section>
  </div>`;

const PHASES: Readonly<Record<NonNullable<MigrationView['run']>['phase'], string>> = {
  stage: 'staging files',
  count: 'counting events',
  import: 'importing',
  people: 'sending persons and groups',
  report: 'adding up',
};

function renderState({ state, reason, run, destination, webhook }: MigrationView): Html {
  const waiting = run?.waitingFor === undefined ? '' : `Waiting for ${run.waitingFor}.`;
  return html`<div class="head"><span class="badge ${state}">${state}</span>${run && html`<span>${PHASES[run.phase]}</span>`}<span class="quiet">to ${destination}</span></div>
    ${reason !== '' && html`<p class="reason">${reason}</p>`}${waiting !== '' && html`<p class="reason">${waiting}</p>`}${webhook !== undefined && html`<p class="reason">The ${describeTrouble(webhook)}.</p>`}`;
}

const HINTS: Readonly<Record<Action, string>> = {
  pause: 'stops at the next batch',
  resume: 'starts a process on the machine of this server',
  cancel: 'stops it; what was delivered stays',
  replay: 'sends rejected records again, as a migration of its own',
};

function renderActions(view: MigrationView, { token }: Reader): Html {
  const actions = listActions(view);
  if (actions.length === 0) return html``;
  if (token === undefined) {
    return html`<p class="quiet">You may look. <a href="/operations/sign-in?to=${view.migration}">Sign in as operator</a> to ${actions.join(', ')}; the password is BACKHAUL_QUEUES_ADMIN_PASSWORD.</p>`;
  }
  return html`<div class="actions">${actions.map(
    (action, index) => html`<form method="post" action="/migrations/${view.migration}/${action}">
      <input type="hidden" name="token" value="${token}">
      <button class="${index === 0 && 'main'}" aria-describedby="hint-${action}">${action[0]?.toUpperCase()}${action.slice(1)}</button></form>`,
  )}</div><p class="quiet">${actions.map((action) => html`<span id="hint-${action}">${action}: ${HINTS[action]}.</span> `)}</p>`;
}

function renderFigures({ state, counts, records, events, bytes, parts, run, terms }: MigrationView): Html {
  const { eventsPerMinute } = terms;
  const isRemoved = state === 'removed';
  const figure = (name: string, value: string, aside = '') =>
    html`<div><dt>${name}</dt><dd>${value}${aside !== '' && html`<small>${aside}</small>`}</dd></div>`;
  const bar = html`<progress max="${Math.max(1, records.staged)}" value="${counts.read}" aria-label="Records with an outcome">${formatWholeShare(counts.read, records.staged)}</progress>`;
  return html`${isRemoved ? '' : bar}
  <dl class="figures">
    ${figure('Records', formatCount(counts.read), isRemoved ? 'with an outcome' : `of ${formatCount(records.staged)} staged`)}
    ${figure('Delivered', formatCount(counts.delivered), `${formatCount(events)} events accepted`)}
    ${figure('Skipped', formatCount(counts.skipped))}
    ${figure('Duplicate', formatCount(counts.duplicate))}
    ${figure('Rejected', formatCount(counts.rejected), formatShare(counts.rejected, counts.read))}
    ${isRemoved ? figure('Source', formatBytes(bytes.source)) : figure('Bytes', formatBytes(bytes.imported), `of ${formatBytes(bytes.staged)}; source ${formatBytes(bytes.source)}`)}
    ${isRemoved ? '' : figure('Parts', formatCount(parts.done), `of ${formatCount(parts.staged)}`)}
    ${run ? figure('Speed', `${formatCount(run.recordsPerSecond)}/s`, eventsPerMinute === undefined ? 'no budget' : `budget ${formatCount(eventsPerMinute)} events a minute`) : ''}
    ${run ? figure('Time left', run.secondsLeft === undefined ? '—' : formatDuration(run.secondsLeft), run.secondsLeft === undefined ? 'not known yet' : '') : ''}
    ${run?.personJobs ? figure('Persons', `${run.personJobs.done}`, `of ${run.personJobs.total} steps`) : ''}
  </dl>`;
}

const COLORS: Readonly<Record<ReasonView['outcome'], string>> = {
  skipped: 'insight-rest',
  duplicate: 'insight-3',
  rejected: 'insight-7',
};

function renderReasons({ state, reasons, migration, counts, replayed }: MigrationView): Html {
  if (reasons.length === 0) {
    // Reasons are read from receipts, and counts from the producer's note, which is ahead of them.
    const isAhead = counts.skipped + counts.duplicate + counts.rejected > 0;
    return html`<p class="quiet">${isAhead ? 'Shown by reason once a part is done.' : 'Nothing was skipped or rejected so far.'}</p>`;
  }
  const most = Math.max(1, ...reasons.map(({ count }) => count));
  const bars = reasons.map(({ outcome, reason, count }) => ({
    label: toWords(reason),
    value: formatCount(count),
    aside: outcome,
    share: count / most,
    color: COLORS[outcome],
  }));
  const sampled = reasons.filter(({ samples }) => samples.length > 0);
  // Rejects go with their migration, unless they were kept.
  const isKept = state !== 'removed' || sampled.length > 0;
  const rejected = isKept && reasons.some(({ outcome }) => outcome === 'rejected');
  return html`<div class="insight">${renderBars(bars)}</div>
    ${sampled.map(
      ({ reason, samples }) =>
        html`<details><summary>Records: ${toWords(reason)}</summary>${samples.map(
          ({ place, detail, text }) => html`<p class="quiet">${place}: ${detail}</p><pre>${text}</pre>`,
        )}<p class="quiet">Send them again after a correction:</p><pre>backhaul rejects replay ${migration} --reason ${reason}</pre></details>`,
    )}${replayed && renderReplayed(replayed)}${rejected && html`<p class="quiet">All of them: <code>backhaul rejects ls ${migration}</code></p>`}`;
}

const renderReplayed = ({ replays, left }: NonNullable<MigrationView['replayed']>): Html =>
  html`<ul class="plain">${replays.map(
    ({ migration, state, count, left: own = 0 }) =>
      html`<li>${formatCount(count)} replayed by <a href="/migrations/${migration}">${migration}</a> <span class="badge ${state}">${state}</span>${own > 0 && html`, where ${formatCount(own)} are rejected and left`}</li>`,
  )}</ul><p>${left === 0 ? 'No rejects are left to replay here.' : `${formatCount(left)} rejects are left to replay.`}</p>`;

/** The newest reason stands at the top of the page already. */
const renderHistory = ({ history, createdAt, reason: shown }: MigrationView): Html =>
  html`<ol class="plain">${history.map(
    ({ state, at, reason }, index) =>
      html`<li><span class="badge ${state}">${state}</span> <span class="quiet">${formatTime(at)} UTC</span>${reason !== '' && (index > 0 || reason !== shown) && html`<br>${reason}`}</li>`,
  )}<li><span class="badge">created</span> <span class="quiet">${formatTime(createdAt)} UTC</span></li></ol>`;
