import { wrap } from '../../migrations/plan/format-text.ts';
import type { Report } from '../../migrations/report/report.ts';
import { formatCount } from './text-table.ts';

/** How what was imported is found at the destination, compared with live data, and what of it can be undone. */
export function renderWayBack(
  { stamps = {}, events, byDay, replayOf }: Report,
  title: (text: string) => string,
): string[] {
  const [first] = Object.entries(stamps);
  if (first === undefined || events.accepted + events.synthetic === 0) return [];
  const [name, value] = first;
  const isOf = `properties.${quoteName(name)} = ${quoteText(value)}`;
  const days = Object.entries(byDay).flatMap(([day, { delivered }]) => (delivered > 0 ? [day] : []));
  const [from, to] = [days.toSorted()[0], days.toSorted().at(-1)];
  const of = from === undefined ? '' : `, by day from ${from} to ${to}`;
  return [
    '',
    title('At the destination'),
    ...paragraph(`Find: every imported event carries ${list(stamps)}. In a query:`),
    `      where ${isOf}`,
    ...paragraph(
      `Compare: ${describeCount((events.distinct ?? events.accepted) + events.synthetic, of, replayOf)} Live events are those without ${name}. A day that has both is a window that overlaps live tracking.`,
    ),
    ...paragraph(
      'Undo: the service deletes no imported events by themselves. It deletes whole persons with all of their events, live ones too (DELETE …/persons/:id/?delete_events=true); values set and merges made stay. So rehearse first: leave "destination" out of the manifest, or use a new project.',
    ),
  ];
}

/** Replays carry the name of their migration, so that filter finds what they have sent together. */
const describeCount = (count: number, days: string, replayOf: string | undefined): string =>
  replayOf === undefined
    ? `count(distinct uuid) under that filter is ${formatCount(count)}${days}; replays of its rejects carry the same name and add to it.`
    : `this replay sent ${formatCount(count)} different events${days}. count(distinct uuid) under that filter is of ${replayOf} and all of its replays together; "backhaul verify ${replayOf}" compares it.`;

const paragraph = (text: string): string[] => wrap(text, '  ');

const list = (stamps: Readonly<Record<string, string>>): string =>
  Object.entries(stamps)
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
    .join(' and ');

/** As the service's SQL reads names and texts. */
const quoteName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : `\`${name.replace(/[\\`]/g, '\\$&')}\``;
const quoteText = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
