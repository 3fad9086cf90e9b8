import { html } from 'hono/html';
import { formatDuration } from '../../../charts/format.ts';
import type { Html } from '../../../charts/html.ts';
import type { Terms } from '../../../migrations/status/terms.ts';
import type { MigrationView } from '../../../migrations/status/view.ts';
import { formatBytes, formatCount, formatTime } from './format.ts';

/** What the migration was asked to do, by the manifest of its last run. */
export const renderPlan = (view: MigrationView): Html =>
  html`<dl class="terms">${listTerms(view).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl><p class="quiet">By the manifest of the last run, and what is staged. What <code>backhaul plan</code> estimates from a sample is printed by that command and not kept.</p>`;

type Term = readonly [name: string, value: string];

function listTerms(view: MigrationView): readonly Term[] {
  const { terms, files, bytes, replays } = view;
  const { source, window, approval, failAbove, persons, sharedDevices, overwrite } = terms;
  const size = `${formatCount(files)} ${files === 1 ? 'file' : 'files'} of ${formatBytes(bytes.source)}`;
  const held = persons === 'hold' ? 'held until “backhaul persons send”' : 'sent once all events are in';
  const values = overwrite ? 'replace those that are there' : 'fill gaps, and replace nothing';
  return [
    ['Source', replays === undefined ? `${source}, ${size}` : `what ${replays} rejected`],
    ['Mapping', view.mapping],
    ['Events', window === undefined ? 'of all times' : renderWindow(window)],
    ['Budget', renderBudget(view)],
    ...(approval === undefined ? [] : [['Approval', approval] satisfies Term]),
    ['Persons', `${held}; their properties ${values}`],
    ['Shared devices', sharedDevices === 'none' ? 'nobody’s' : `of the ${sharedDevices} user`],
    ['Rejects', `more than ${failAbove} of the records are too many`],
  ];
}

function renderWindow({ from, until }: NonNullable<Terms['window']>): string {
  const begin = from === undefined ? [] : [`from ${formatTime(from)}`];
  const end = until === undefined ? [] : [`before ${formatTime(until)}`];
  return `${[...begin, ...end].join(', ')} UTC`;
}

/** No run is faster than its budget, where each record becomes an event. */
function renderBudget({ terms: { eventsPerMinute }, records }: MigrationView): string {
  if (eventsPerMinute === undefined) return 'none: as fast as the destination takes them';
  const least = formatDuration((records.staged / eventsPerMinute) * 60);
  const atLeast = records.staged > eventsPerMinute ? `; ${least} for the records that are staged` : '';
  return `${formatCount(eventsPerMinute)} events a minute${atLeast}`;
}
