import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import { type CheckItem, makeChecklist } from '../../../migrations/plan/checklist.ts';
import {
  counted,
  formatBytes,
  formatCount,
  formatMinutes,
  formatShare,
  printable,
} from '../../../migrations/plan/format-text.ts';
import type { Estimate, Field, Pair, Plan } from '../../../migrations/plan/plan.ts';
import type { Report } from '../../../migrations/report/report.ts';
import { DEVICES, describePlaces, describeTimeSpan, describeWindow, NOTES } from '../plan-texts.ts';
import { renderDays, renderHours, renderNames } from './render-plots.ts';
import { renderMore, renderTable, section } from './section.ts';
import { wrapPage } from './wrap-page.ts';

export interface PlanPage {
  readonly plan: Plan;
  /** The report that a run would end with, where the pass over every record was made. */
  readonly full: Report | undefined;
  /** Why a run would be refused, or would end with too many rejects. */
  readonly problems: readonly string[];
  readonly madeAt: Date;
}

/** A plan as one page without scripts or other files, to be sent to a colleague. Shows values of sampled records. */
export function renderPlanPage({ plan, full, problems, madeAt }: PlanPage): Promise<string> {
  const title = `Plan of ${printable(plan.migration)}`;
  return wrapPage(
    title,
    html`<header>
      <h1>${title}</h1>
      <p class="quiet">Nothing was sent. Made ${formatTime(madeAt)} by <code>backhaul plan${full ? ' --full' : ''}</code>.</p>
    </header>
    ${problems.map((text) => html`<pre class="problem">${printLines(text)}</pre>`)}
    <main>
      ${renderOverview(plan, full)}
      ${renderDays(plan)}
      ${renderHours(plan)}
      ${renderNames(plan, full)}
      ${renderPeople(plan, full)}
      ${renderFields(plan)}
      ${renderOutcomes(plan, full)}
      ${renderNotes(plan)}
      ${renderPairs(plan.pairs)}
      ${renderChecklist(makeChecklist(plan))}
    </main>`,
  );
}

function renderOverview(plan: Plan, full: Report | undefined): Html {
  const { limits } = plan;
  const facts: (readonly [name: string, value: string])[] = [
    ['Source', `${plan.source.type}, ${counted(plan.files.length, 'file')}, ${formatBytes(plan.bytes)}`],
    ['Destination', plan.destination === 'bundled' ? 'the bundled API' : plan.destination],
    ['Records', full ? formatCount(full.counts.read) : formatEstimate(plan.records)],
    ['Events', full ? formatCount(full.events.sent) : formatEstimate(plan.events)],
    ['Time span', describeTimeSpan(plan)],
    ...(plan.window ? ([['Window', describeWindow(plan.window)]] as const) : []),
    ['Time zone', `${plan.source.timezone}, for timestamps that carry none`],
    ['Places', describePlaces(plan.source.geoip)],
    ...(plan.sharedDevices ? ([['Devices', DEVICES[plan.sharedDevices]]] as const) : []),
    [
      'Speed',
      limits.eventsPerMinute === undefined
        ? 'not limited'
        : `at most ${formatCount(limits.eventsPerMinute)} events a minute`,
    ],
    ...(plan.durationMinutes === undefined
      ? []
      : ([['Duration', `${formatMinutes(plan.durationMinutes)} at that speed`]] as const)),
    [
      'Read for this page',
      full
        ? 'every record'
        : `${counted(plan.sample.records, 'record')} of ${counted(plan.sample.files, 'file')}`,
    ],
  ];
  return section(
    'Overview',
    html`<dl>${facts.map(([name, value]) => html`<div><dt>${name}</dt><dd>${printable(value)}</dd></div>`)}</dl>`,
  );
}

function renderPeople({ people, sharedDevices = 'none' }: Plan, full: Report | undefined): Html {
  const rows: (readonly [name: string, count: number])[] = full
    ? [
        ['Anonymous ids merged into their user', full.people.pairs],
        ...(full.people.mergedBefore === undefined
          ? []
          : ([['Merged by an earlier migration', full.people.mergedBefore]] as const)),
        ...(full.people.chosen === undefined
          ? []
          : ([['Of these, shared by several users', full.people.chosen]] as const)),
        ['Persons with properties', full.people.persons],
        ['Groups', full.people.groups],
        ...Object.entries(full.people.setAside).map(
          ([reason, count]) => [`Left unmerged: ${reason}`, count ?? 0] as const,
        ),
      ]
    : [
        ['Different distinct ids', people.distinctIds],
        ['Anonymous ids seen with one user', people.merges],
        [`Anonymous ids seen with several users (shared devices, ${SHARED[sharedDevices]})`, people.shared],
        ['Ids with properties', people.withProperties],
        ['Groups', people.groups],
      ];
  return section(
    'People and merges',
    html`${renderTable(
      ['', full ? 'all' : 'sampled'],
      rows.map(([name, count]) => [name, formatCount(count)]),
    )}
      ${full ? '' : html`<p class="quiet">Merges depend on every record: <code>backhaul plan --full</code> decides them without sending.</p>`}
      ${full ? renderUniques(full) : ''}
      ${
        full && full.people.setAsideSample.length > 0
          ? html`<h3>Unmerged, the first ones</h3>${renderTable(
              ['reason', 'id', 'seen with'],
              full.people.setAsideSample
                .slice(0, UNMERGED_SHOWN)
                .map(({ reason, id, users, property }) => [reason, id, property ?? users?.join(', ') ?? '']),
            )}`
          : ''
      }`,
  );
}

const SHARED = {
  none: 'left unmerged',
  first: 'merged into the first one',
  last: 'merged into the last one',
} as const;

function renderUniques({ people: { uniques = {}, held } }: Report) {
  const months = Object.entries(uniques).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (months.length === 0 || held) return '';
  return html`<h3>Unique users by month (UTC)</h3>${renderTable(
    ['month', 'vendor', 'destination', 'difference'],
    months.map(([month, { vendor, destination }]) => [
      month,
      formatCount(vendor),
      formatCount(destination),
      formatCount(destination - vendor),
    ]),
  )}`;
}

const FIELDS_SHOWN = 60;
const UNMERGED_SHOWN = 20;

function renderFields({ fields: { mapped, kept = [], unmapped }, sample }: Plan): Html {
  const list = (names: readonly string[]) =>
    html`<p>${names.map((name) => html`<code>${printable(name)}</code> `)}</p>`;
  return section(
    'Fields',
    html`<h3>${formatCount(mapped.length)} read</h3>${list(mapped.slice(0, FIELDS_SHOWN))}${renderMore(mapped.length - FIELDS_SHOWN, 'field')}
      ${
        kept.length === 0
          ? ''
          : html`<h3>${formatCount(kept.length)} kept as they are</h3>${list(kept.slice(0, FIELDS_SHOWN).map(({ field }) => field))}${renderMore(kept.length - FIELDS_SHOWN, 'field')}`
      }
      <h3>${formatCount(unmapped.length)} left behind</h3>
      ${
        unmapped.length === 0
          ? html`<p class="quiet">Every field of the sampled records is read.</p>`
          : html`${renderTable(
              ['field', 'sampled records'],
              unmapped
                .slice(0, FIELDS_SHOWN)
                .map(({ field, inSample }) => [
                  field,
                  `${formatCount(inSample)} (${formatShare(inSample / sample.records)})`,
                ]),
            )}${renderMore(unmapped.length - FIELDS_SHOWN, 'field')}`
      }`,
  );
}

function renderOutcomes(plan: Plan, full: Report | undefined): Html {
  const title = 'Records that become no event';
  if (full) {
    const rows = Object.entries(full.byReason).toSorted(([, a], [, b]) => b - a);
    if (rows.length === 0) return section(title, html`<p class="quiet">Every record becomes an event.</p>`);
    return section(
      title,
      renderTable(
        ['reason', 'records'],
        rows.map(([reason, count]) => [reason, formatCount(count)]),
      ),
    );
  }
  const { skips, rejects, sample } = plan;
  const share = (inSample: number) => `${formatCount(inSample)} (${formatShare(inSample / sample.records)})`;
  const rows = [
    ...skips.map(({ reason, inSample, estimated }) => [
      `skipped: ${reason}`,
      share(inSample),
      formatCount(estimated),
      '',
    ]),
    ...rejects.map(({ reason, inSample, estimated, file, example }) => [
      `rejected: ${reason}`,
      share(inSample),
      formatCount(estimated),
      `${file}: ${example}`,
    ]),
  ];
  if (rows.length === 0)
    return section(title, html`<p class="quiet">Every sampled record becomes an event.</p>`);
  return section(title, renderTable(['outcome', 'sampled', 'estimated', 'for example'], rows));
}

function renderNotes({ notes = [], sample }: Plan): Html {
  if (notes.length === 0) return html``;
  return section(
    'What the mapping decides for records',
    renderTable(
      ['', 'sampled', 'estimated'],
      notes.map(({ note, inSample, estimated }) => [
        NOTES[note],
        `${formatCount(inSample)} (${formatShare(inSample / sample.records)})`,
        formatCount(estimated),
      ]),
    ),
  );
}

function renderPairs(pairs: readonly Pair[]): Html {
  const fields = (all: readonly Field[]) =>
    html`<table class="fields"><tbody>${all.map(
      ([name, value]) => html`<tr><th scope="row">${printable(name)}</th><td>${printable(value)}</td></tr>`,
    )}</tbody></table>`;
  if (pairs.length === 0) return html``;
  return section(
    'Records, and the events they become',
    html`${pairs.map(
      ({ file, record, event }) =>
        html`<h3>From ${printable(file)}</h3><div class="pair"><div><h4>Record</h4>${fields(record)}</div><div><h4>Event</h4>${fields(event)}</div></div>`,
    )}`,
  );
}

const MARKS = { done: '✓', open: '☐', warning: '!' } as const;
const MEANINGS = { done: 'done', open: 'to do', warning: 'look at this' } as const;

const renderChecklist = (items: readonly CheckItem[]): Html =>
  section(
    'Before an import',
    html`<ul class="checks">${items.map(
      ({ state, text }) =>
        html`<li class="${state}"><span role="img" aria-label="${MEANINGS[state]}">${MARKS[state]}</span> ${printable(text)}</li>`,
    )}</ul>`,
  );

const formatEstimate = ({ count, exact }: Estimate) => `${exact ? '' : 'about '}${formatCount(count)}`;

const printLines = (text: string): string => text.split('\n').map(printable).join('\n');

const formatTime = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
