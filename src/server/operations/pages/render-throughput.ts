import { html } from 'hono/html';
import { createTimeAxis, createWordAxis } from '../../../charts/axis.ts';
import type { Html } from '../../../charts/html.ts';
import { renderLines } from '../../../charts/lines.ts';
import { DAY_MS } from '../../../lib/day.ts';
import type { MigrationView } from '../../../migrations/status/view.ts';
import { formatTime } from './format.ts';

const MINUTE_MS = 60_000;
/** As many as a pointer can find. */
const MAX_POINTS = 120;
/** The plot has half of the page, and the names of its lines beside it. */
const MAX_TIMES = 5;

export interface Rate {
  readonly atMs: number;
  readonly eventsPerMinute: number;
}

/**
 * Events a minute by interval. No interval is shorter than a minute: a run that is held back by its budget sends in
 * bursts, and only over a minute do these compare with the budget. The last one counts once it has passed, or the run is
 * over.
 */
export function toRates(
  { fromMs, stepMs, events }: NonNullable<MigrationView['throughput']>,
  isOver = false,
): Rate[] {
  const joined = Math.max(Math.ceil(MINUTE_MS / stepMs), Math.ceil(events.length / MAX_POINTS));
  const widthMs = joined * stepMs;
  const whole = isOver ? Math.ceil(events.length / joined) : Math.floor((events.length - 1) / joined);
  return Array.from({ length: whole }, (_, index) => {
    const sum = events.slice(index * joined, (index + 1) * joined).reduce((total, one) => total + one, 0);
    return { atMs: fromMs + index * widthMs, eventsPerMinute: Math.round((sum * MINUTE_MS) / widthMs) };
  });
}

const NOTHING: Readonly<Partial<Record<MigrationView['state'], string>>> = {
  running: 'Shown once the run has taken a minute.',
  removed: 'Not kept of a migration that was removed.',
};

export function renderThroughput({ state, throughput, terms: { eventsPerMinute } }: MigrationView): Html {
  const rates = throughput ? toRates(throughput, state !== 'running') : [];
  const [first, last] = [rates[0], rates.at(-1)];
  if (first === undefined || last === undefined)
    return html`<p class="quiet">${NOTHING[state] ?? 'No run has sent anything.'}</p>`;
  const times = rates.map(({ atMs }) => formatTime(new Date(atMs).toISOString()));
  const isLong = last.atMs - first.atMs > DAY_MS;
  const axis = isLong
    ? createTimeAxis(times)
    : createWordAxis(
        times.map((time) => time.slice(11, 16)),
        MAX_TIMES,
      );
  const series = [
    { name: 'accepted', values: rates.map((rate) => rate.eventsPerMinute), color: 'insight-1' },
    ...(eventsPerMinute === undefined
      ? []
      : [{ name: 'budget', values: rates.map(() => eventsPerMinute), color: 'insight-2', isEarlier: true }]),
  ];
  return html`<p class="quiet">Events a minute, UTC.</p>${renderLines(series, axis)}`;
}
