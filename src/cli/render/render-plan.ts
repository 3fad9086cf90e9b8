import { makeChecklist } from '../../migrations/plan/checklist.ts';
import {
  counted,
  fitTo,
  formatBytes,
  formatCount,
  formatMinutes,
  formatShare,
  printable,
  WIDTH,
  wrap,
} from '../../migrations/plan/format-text.ts';
import type { Estimate, Field, Pair, Plan } from '../../migrations/plan/plan.ts';
import { DEVICES, describePlaces, describeTimeSpan, describeWindow, NOTES } from './plan-texts.ts';

const EVENTS_SHOWN = 15;
const FIELDS_SHOWN = 30;
const REASONS_SHOWN = 12;
const PAIR_LINES = 12;
const LABEL_WIDTH = 16;

/** The plan for a terminal of 80 columns. */
export function renderPlan(plan: Plan): string {
  const sections = [
    overview(plan),
    events(plan),
    fields(plan),
    plan.pairs.flatMap((pair, index) => [...(index === 0 ? [] : ['']), ...renderPair(pair)]),
    outcomes(plan),
    notes(plan),
    checklist(plan),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.map((line) => line.trimEnd()).join('\n'))
    .join('\n\n')}\n`;
}

function overview(plan: Plan): string[] {
  const { sample, limits } = plan;
  return [
    `Plan of migration "${printable(plan.migration)}" (nothing was sent)`,
    ...labelled(
      'source',
      `${plan.source.type}, ${counted(plan.files.length, 'file')}, ${formatBytes(plan.bytes)}`,
    ),
    ...labelled('destination', plan.destination === 'bundled' ? 'the bundled API' : plan.destination),
    ...labelled('sample', `${counted(sample.records, 'record')} of ${counted(sample.files, 'file')}`),
    ...labelled('records', estimate(plan.records)),
    ...labelled('events', `${estimate(plan.events)}, and synthetic ones for persons and groups`),
    ...labelled('time span', describeTimeSpan(plan)),
    ...(plan.sharedDevices ? labelled('devices', DEVICES[plan.sharedDevices]) : []),
    ...(plan.window ? labelled('window', describeWindow(plan.window)) : []),
    ...(plan.staging ? labelled('staging', renderSpace(plan.staging)) : []),
    ...labelled('zone', `${plan.source.timezone}, for timestamps that carry none`),
    ...labelled('places', describePlaces(plan.source.geoip)),
    ...labelled(
      'speed',
      limits.eventsPerMinute === undefined
        ? 'not limited'
        : `at most ${formatCount(limits.eventsPerMinute)} events a minute`,
    ),
    ...(plan.durationMinutes === undefined
      ? []
      : labelled('duration', `${formatMinutes(plan.durationMinutes)} at that speed`)),
  ];
}

function renderSpace({ location, packing, bytes, freeBytes }: NonNullable<Plan['staging']>): string {
  const how = packing === 'none' ? 'unpacked' : 'packed';
  const free = freeBytes === undefined ? '' : `; ${formatBytes(freeBytes)} free`;
  return `about ${formatBytes(bytes)} of ${how} parts in ${location}${free}`;
}

function events({ eventsByName }: Plan): string[] {
  if (eventsByName.length === 0) return [];
  return [
    row('Events', 'sampled', 'estimated'),
    ...eventsByName
      .slice(0, EVENTS_SHOWN)
      .map(({ event, inSample, estimated }) =>
        row(`  ${event}`, formatCount(inSample), formatCount(estimated)),
      ),
    ...more(eventsByName.length - EVENTS_SHOWN),
  ];
}

function fields({ fields: { mapped, kept = [], unmapped } }: Plan): string[] {
  const counts = [
    `${formatCount(mapped.length)} read`,
    ...(kept.length === 0 ? [] : [`${formatCount(kept.length)} kept as they are`]),
    unmapped.length === 0
      ? 'none left behind'
      : `${formatCount(unmapped.length)} left behind (in so many sampled records)`,
  ];
  const names = unmapped
    .slice(0, FIELDS_SHOWN)
    .map(({ field, inSample }) => `${field} (${formatCount(inSample)})`);
  return [
    ...wrap(`Fields: ${counts.join(', ')}`, ''),
    ...(names.length === 0 ? [] : wrap(names.join(', '), '  ')),
    ...more(unmapped.length - FIELDS_SHOWN),
  ];
}

function notes({ notes: found = [], sample }: Plan): string[] {
  if (found.length === 0) return [];
  return [
    row('What the mapping decides for records', 'sampled', 'estimated'),
    ...found.map(({ note, inSample, estimated }) =>
      row(
        `  ${NOTES[note]}`,
        `${formatCount(inSample)} (${formatShare(inSample / sample.records)})`,
        formatCount(estimated),
      ),
    ),
  ];
}

function renderPair({ file, record, event }: Pair): string[] {
  const left = (WIDTH - 5) >> 1;
  const right = WIDTH - 5 - left;
  const line = (a: string, b: string) => `  ${fitTo(a, left)} → ${fitTo(b, right)}`.trimEnd();
  const shown = Math.min(PAIR_LINES, Math.max(record.length, event.length));
  const rest = (list: readonly Field[]) => (list.length > shown ? `… and ${list.length - shown} more` : '');
  const text = (field: Field | undefined) =>
    field ? [field[0], field[1]].filter((part) => part !== '').join(': ') : '';
  return [
    fitTo(`A record of ${file}, and the event it becomes`, WIDTH),
    ...Array.from({ length: shown }, (_, index) => line(text(record[index]), text(event[index]))),
    ...(rest(record) || rest(event) ? [line(rest(record), rest(event))] : []),
  ];
}

function outcomes({ skips, rejects, sample }: Plan): string[] {
  const share = (inSample: number) => `${formatCount(inSample)} (${formatShare(inSample / sample.records)})`;
  const skipped = skips.map((skip) =>
    row(`  skipped: ${skip.reason}`, share(skip.inSample), formatCount(skip.estimated)),
  );
  const rejected = rejects
    .slice(0, REASONS_SHOWN)
    .flatMap((reject) => [
      row(`  rejected: ${reject.reason}`, share(reject.inSample), formatCount(reject.estimated)),
      ...wrap(`for example, in ${reject.file}: ${reject.example}`, '    '),
    ]);
  if (skipped.length + rejected.length === 0) return ['Every sampled record becomes an event'];
  return [
    row('Records that become no event', 'sampled', 'estimated'),
    ...skipped,
    ...rejected,
    ...more(rejects.length - REASONS_SHOWN),
  ];
}

const MARKS = { done: '[x] ', open: '[ ] ', warning: '[!] ' } as const;

function checklist(plan: Plan): string[] {
  const bundled = 'The bundled API takes any volume without asking.';
  return [
    'Before an import',
    ...(plan.destination === 'bundled' ? wrap(bundled, '  ') : []),
    ...makeChecklist(plan).flatMap(({ state, text }) => wrap(text, `  ${MARKS[state]}`)),
  ];
}

const estimate = ({ count, exact }: Estimate) => `${exact ? '' : 'about '}${formatCount(count)}`;
const labelled = (label: string, text: string) => wrap(text, `  ${label.padEnd(LABEL_WIDTH - 2)}`);
const row = (name: string, sampled: string, estimated: string) =>
  `${fitTo(name, WIDTH - 32)}${sampled.padStart(16)}${estimated.padStart(16)}`;
const more = (count: number) => (count > 0 ? [`  … and ${formatCount(count)} more`] : []);
