import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import type { Report } from '../../../migrations/report/report.ts';
import type { MigrationView } from '../../../migrations/status/view.ts';
import type { KeptVerification } from '../../../migrations/verify/kept.ts';
import {
  describeRow,
  judge,
  nameSides,
  SUBJECTS,
  signed,
  titleOf,
} from '../../../migrations/verify/words.ts';
import { formatCount, formatTime, toWords } from './format.ts';

/** Whether the books of the last run balance, and what the last comparison with the destination came to. */
export function renderVerification({
  state,
  report,
  run,
  migration,
  verification,
  since,
}: MigrationView): Html {
  if (report === undefined) {
    if (state === 'removed') return html`<p>It was removed before it had a report.</p>`;
    return html`<p>${run?.phase === 'people' ? 'Persons and groups are being sent.' : 'Persons and groups are sent once all events are in; the report follows.'}</p>`;
  }
  const { people, balanced, problems } = report;
  const unmerged = Object.entries(people.setAside);
  return html`<p><span class="badge ${balanced ? 'finished' : 'damaged'}">${balanced ? 'balanced' : 'not balanced'}</span> Read = delivered + skipped + duplicate + rejected${listBreakdowns(report)}.</p>
    ${problems.length > 0 && html`<ul>${problems.map((problem) => html`<li>${problem}</li>`)}</ul>`}
    ${listOpen(report).map((line) => html`<p>${line}</p>`)}
    <dl class="figures">${listFigures(report).map(
      ([name, value]) => html`<div><dt>${name}</dt><dd>${formatCount(value)}</dd></div>`,
    )}</dl>
    ${unmerged.length > 0 && html`<p>Not merged: ${unmerged.map(([reason, count]) => `${formatCount(count ?? 0)} ${toWords(reason)}`).join(', ')}.</p>`}
    ${renderWayBack(report)}<p class="quiet">The whole report: <code>backhaul report ${migration}</code></p>
    <h3>Old against new</h3>${verification ? renderKept(verification, since) : html`<p>Not compared with the destination yet.</p>`}
    <p class="quiet">To compare ${verification ? 'again' : 'now'}: <code>backhaul verify ${migration}</code></p>`;
}

function renderKept({ at, unexplained, comparisons }: KeptVerification, since: string): Html {
  const isEqual = comparisons.every(({ total, tables }) => judge(total) === 'equal' && !tables.some(hasRows));
  const [badge, verdict] =
    unexplained > 0
      ? [
          'damaged',
          `different: nothing explains ${formatCount(unexplained)} ${unexplained === 1 ? 'row' : 'rows'}`,
        ]
      : ['finished', isEqual ? 'equal' : 'every difference is explained'];
  return html`<p><span class="badge ${badge}">${verdict}</span> Compared at <time datetime="${at}">${formatTime(at)}</time> UTC.${at < since && ' The migration has run since then.'}</p>
    ${comparisons.map(renderCompared)}`;
}

const hasRows = ({ rows }: { readonly rows: readonly unknown[] }) => rows.length > 0;

type Compared = KeptVerification['comparisons'][number];

function renderCompared(compared: Compared): Html {
  const { total, tables } = compared;
  const why = describeRow(total);
  return html`<p>${titleOf(compared)}: ${formatCount(total.old)} and ${formatCount(total.now)} events${why && ` (${why})`}.</p>
    ${tables.filter(hasRows).map((table) => renderDiffering(compared, table))}`;
}

function renderDiffering(compared: Compared, { by, rows, more }: Compared['tables'][number]): Html {
  const { title, column } = SUBJECTS[by];
  const [old, now] = nameSides(compared, by);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="compared">
      <caption>${title}</caption>
      <thead><tr><th scope="col">${column}</th><th scope="col" class="n">${old}</th><th scope="col" class="n">${now}</th><th scope="col" class="n">difference</th><th scope="col">why</th></tr></thead>
      <tbody>${rows.map((row) => renderRow(row, [old, now]))}</tbody></table></div>${more > 0 && html`<p class="quiet">… and ${formatCount(more)} more that differ.</p>`}`;
}

const renderRow = (row: Compared['total'], [old, now]: readonly [string, string]): Html =>
  html`<tr><th scope="row">${row.key}</th><td class="n" data-of="${old}">${formatCount(row.old)}</td><td class="n" data-of="${now}">${formatCount(row.now)}</td><td class="n" data-of="difference">${signed(row.now - row.old)}</td><td${judge(row) === 'unexplained' && html` class="damaged"`}>${describeRow(row)}</td></tr>`;

const listFigures = ({ events, people }: Report): readonly (readonly [string, number])[] => [
  ['Events sent', events.sent],
  ['Accepted', events.accepted],
  ...(events.distinct === undefined ? [] : [['Distinct', events.distinct] as const]),
  ['About persons', events.synthetic],
  ['Merged ids', people.pairs],
  ['Persons', people.persons],
  ['Groups', people.groups],
];

const listBreakdowns = ({ byFile, byDay, byEvent }: Report): string =>
  `, by file (${formatCount(byFile.length)}), day (${formatCount(Object.keys(byDay).length)}) and event (${formatCount(Object.keys(byEvent).length)})`;

/** What the numbers do not cover. */
function listOpen({ unfinished, repeats, people }: Report): string[] {
  const { parts, files } = unfinished;
  return [
    ...(parts > 0 ? [`${formatCount(parts)} parts have no receipt yet.`] : []),
    ...(files.length > 0 ? [`Not staged to their end: ${files.slice(0, 10).join(', ')}.`] : []),
    ...(repeats?.counted === false ? ['Repeats over all parts are not counted yet.'] : []),
    ...(people.held ? ['Persons and groups are held: nothing about them was sent.'] : []),
    ...(people.refusedCount > 0
      ? [`${formatCount(people.refusedCount)} events about persons and groups were refused.`]
      : []),
  ];
}

function renderWayBack({ stamps = {}, events, replayOf }: Report): Html {
  const [first] = Object.entries(stamps);
  if (first === undefined || events.accepted + events.synthetic === 0) return html``;
  const [name, value] = first;
  const count = (events.distinct ?? events.accepted) + events.synthetic;
  if (replayOf !== undefined)
    return html`<p>To compare: this replay has sent ${formatCount(count)} distinct events. The destination has them under <code>${name} = ${value}</code> together with those of ${replayOf} and its other replays; <code>backhaul verify ${replayOf}</code> compares all of them.</p>`;
  return html`<p>To compare: the destination has ${formatCount(count)} distinct events with <code>${name} = ${value}</code>, and more once rejects were replayed.</p>`;
}
