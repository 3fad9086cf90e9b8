import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import type { Report } from '../../../migrations/report/report.ts';
import type { MigrationView } from '../../../migrations/status/view.ts';
import { formatCount, toWords } from './format.ts';

/** Whether the books of the last run balance, and how its events are found at the destination. */
export function renderVerification({ report, run, migration }: MigrationView): Html {
  if (report === undefined) {
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
    ${renderWayBack(report)}<p class="quiet">The whole report: <code>backhaul report ${migration}</code></p>`;
}

const listFigures = ({ events, people }: Report): readonly (readonly [string, number])[] => [
  ['Events sent', events.sent],
  ['Accepted', events.accepted],
  ...(events.distinct === undefined ? [] : [['Different', events.distinct] as const]),
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

function renderWayBack({ stamps = {}, events }: Report): Html {
  const [first] = Object.entries(stamps);
  if (first === undefined || events.accepted + events.synthetic === 0) return html``;
  const [name, value] = first;
  const count = (events.distinct ?? events.accepted) + events.synthetic;
  return html`<p>To compare: the destination has ${formatCount(count)} different events with <code>${name} = ${value}</code>.</p>`;
}
