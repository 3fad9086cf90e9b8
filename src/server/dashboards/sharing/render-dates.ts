import { isJsonObject, type JsonObject } from '../../http/json.ts';
import type { StoredInsight } from '../../insights/store.ts';

/** A range of dates in words: `Last 30 days`. Undefined when none is given. */
export function renderDates(range: JsonObject): string | undefined {
  const from = toWord(range['date_from']);
  const to = toWord(range['date_to']);
  if (from === undefined) return to && `Until ${renderMoment(to)}`;
  if (from === 'all' && to === undefined) return 'All time';
  if (to === undefined) return renderSince(from);
  if (from === '-1dStart' && to === '-1dEnd') return 'Yesterday';
  return `${renderMoment(from)} to ${renderMoment(to)}`;
}

/** The insight's own dates. None for retention, which counts back from its end. */
export function renderInsightDates({ filters, query }: StoredInsight): string | undefined {
  const source = isJsonObject(query?.['source']) ? query['source'] : query;
  const kind = String(source?.['kind'] ?? filters['insight'] ?? 'TRENDS');
  if (/^retention/i.test(kind)) return undefined;
  const range = source === null || source === undefined ? filters : source['dateRange'];
  return (isJsonObject(range) ? renderDates(range) : undefined) ?? 'Last 7 days';
}

const toWord = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const UNITS: Readonly<Record<string, string>> = {
  h: 'hour',
  d: 'day',
  w: 'week',
  m: 'month',
  q: 'quarter',
  y: 'year',
};
const CURRENT: Readonly<Record<string, string>> = {
  hStart: 'This hour',
  dStart: 'Today',
  wStart: 'This week',
  mStart: 'This month',
  qStart: 'This quarter',
  yStart: 'This year',
};

function renderSince(from: string): string {
  const [, count, unit = ''] = /^-(\d{1,6})([hdwmqy])$/.exec(from) ?? [];
  const name = UNITS[unit];
  if (name !== undefined) return Number(count) === 1 ? `Last ${name}` : `Last ${Number(count)} ${name}s`;
  const current = CURRENT[from.replace(/^-0/, '')];
  return current ?? `Since ${renderMoment(from)}`;
}

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

/** What is no date stays as it was written. */
function renderMoment(word: string): string {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:$|T)/.exec(word) ?? [];
  const at = new Date(`${day}T00:00:00Z`);
  return day === undefined || Number.isNaN(at.getTime()) ? word : DAY.format(at);
}
