import { html } from 'hono/html';
import { createWordAxis } from '../../../charts/axis.ts';
import { renderBars } from '../../../charts/bars.ts';
import { renderColumns } from '../../../charts/columns.ts';
import type { Html } from '../../../charts/html.ts';
import { renderOverTime } from '../../../charts/over-time.ts';
import { formatCount, printable } from '../../../migrations/plan/format-text.ts';
import type { Plan } from '../../../migrations/plan/plan.ts';
import type { Report } from '../../../migrations/report/report.ts';
import { renderMore, section } from './section.ts';

const NO_EVENTS = html`<p class="quiet">No sampled record becomes an event.</p>`;

export function renderDays({ times }: Plan): Html {
  const { byDay, zone } = times;
  const first = byDay[0]?.day;
  const last = byDay.at(-1)?.day;
  if (first === undefined || last === undefined) return section('Events a day', NO_EVENTS);
  const counts = new Map(byDay.map(({ day, events }) => [day, events]));
  const days = listDays(first, last);
  const series = [{ name: 'Events', values: days.map((day) => counts.get(day) ?? 0), color: 'insight-1' }];
  return section(
    'Events a day',
    html`${renderOverTime('columns', series, days)}<p class="quiet">${describeOrigin(times)} Days are those of ${zone}.</p>`,
  );
}

export function renderHours({ times }: Plan): Html {
  if (times.byDay.length === 0) return section('Hours of the day', NO_EVENTS);
  const labels = times.byHour.map((_, hour) => `${String(hour).padStart(2, '0')}:00`);
  const series = [{ name: 'Events', values: times.byHour, color: 'insight-3' }];
  return section(
    'Hours of the day',
    html`${renderColumns(series, createWordAxis(labels))}
      <p class="quiet">${describeOrigin(times)} Hours are those of ${times.zone}. Compare them with the hours that the vendor's own screen shows: where the shape is the same and shifted, <code>source.timezone</code> is wrong.</p>`,
  );
}

const describeOrigin = ({ ofAll }: Plan['times']): string =>
  ofAll ? 'All events.' : 'Of the sampled records alone, which are the first ones of each file.';

const NAMES_SHOWN = 20;

export function renderNames(plan: Plan, full: Report | undefined): Html {
  const names = full
    ? Object.entries(full.byEvent)
        .map(([event, { delivered }]) => ({ event, count: delivered }))
        .filter(({ count }) => count > 0)
        .toSorted((a, b) => b.count - a.count)
    : plan.eventsByName.map(({ event, estimated }) => ({ event, count: estimated }));
  if (names.length === 0) return section('Events by name', NO_EVENTS);
  const most = names[0]?.count ?? 1;
  const about = full || plan.events.exact ? '' : 'about ';
  const bars = names.slice(0, NAMES_SHOWN).map(({ event, count }) => ({
    label: printable(event),
    value: `${about}${formatCount(count)}`,
    share: most === 0 ? 0 : count / most,
  }));
  return section(
    'Events by name',
    html`<div class="insight">${renderBars(bars)}</div>${renderMore(names.length - NAMES_SHOWN, 'name')}`,
  );
}

/** A plot has a column for each day. History with times of many centuries is damaged, and only its ends are drawn. */
const MOST_DAYS = 40_000;

/** Every day from the first to the last. */
export function listDays(first: string, last: string): string[] {
  const days: string[] = [];
  const end = Date.parse(last);
  for (let at = Date.parse(first); at <= end && days.length < MOST_DAYS; at += 86_400_000) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}
