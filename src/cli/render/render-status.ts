import { groupDigits } from '../../lib/group-digits.ts';
import type { RunStatus } from '../../migrations/run/run-status.ts';
import { cutLine } from '../terminal.ts';

const BAR_WIDTH = 24;

/**
 * One line of at most so many columns: phase, bar, records, rate, time left. What matters less is left out where
 * there is no room: first the bar, then from the end.
 */
export function renderStatus(status: RunStatus, columns: number): string {
  const { phase, files, parts, counts, staged, personJobs, countedParts, waitingFor, speed } = status;
  const name = NAMES[phase];
  if (waitingFor !== undefined) return fitLine({ name, rest: [`waiting for ${waitingFor}`] }, columns);
  if (phase === 'count') {
    const rest = [`${share(countedParts, parts.known)} events counted, nothing is sent yet`];
    return fitLine({ name, bar: drawBar(countedParts, parts.known), rest }, columns);
  }
  if (phase === 'people') {
    const rest = [`${share(personJobs.done, personJobs.total)} identities, persons and groups`];
    return fitLine({ name, bar: drawBar(personJobs.done, personJobs.total), rest }, columns);
  }
  if (phase === 'report') return fitLine({ name, rest: ['adding up'] }, columns);

  const isStaged = files.staged === files.total;
  const rest = [
    `${share(counts.read, staged)} ${number(counts.read)}/${number(staged)}${isStaged ? '' : '+'} records`,
    ...(speed.secondsLeft === undefined ? [] : [`${duration(speed.secondsLeft)} left`]),
    ...(counts.rejected > 0 ? [`${number(counts.rejected)} rejected`] : []),
    `${number(speed.recordsPerSecond)}/s`,
    `files ${files.staged}/${files.total}`,
    `parts ${parts.done}/${parts.known}`,
  ];
  return fitLine({ name, bar: drawBar(counts.read, staged), rest }, columns);
}

/** As the report calls them. */
const NAMES: Readonly<Record<RunStatus['phase'], string>> = {
  stage: 'stage',
  count: 'count',
  import: 'import',
  people: 'persons',
  report: 'report',
};

interface Line {
  readonly name: string;
  readonly bar?: string;
  /** The more important ones first. */
  readonly rest: readonly string[];
}

const NAME_WIDTH = 8;

function fitLine({ name, bar, rest }: Line, columns: number): string {
  const write = (count: number, withBar: boolean) =>
    [
      name.padEnd(NAME_WIDTH),
      ...(withBar && bar !== undefined ? [bar] : []),
      rest.slice(0, count).join(' · '),
    ].join(' ');
  const whole = write(rest.length, true);
  if (whole.length <= columns) return whole;
  for (let count = rest.length; count > 1; count -= 1) {
    const line = write(count, false);
    if (line.length <= columns) return line;
  }
  return cutLine(write(1, false), columns);
}

const drawBar = (done: number, total: number): string => {
  const full = Math.floor(toShare(done, total) * BAR_WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`;
};

const share = (done: number, total: number): string =>
  `${String(Math.floor(toShare(done, total) * 100)).padStart(3)}%`;

const toShare = (done: number, total: number): number => (total > 0 ? Math.min(1, done / total) : 0);

export const bar = (done: number, total: number): string => `${drawBar(done, total)} ${share(done, total)}`;

export const number = groupDigits;

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
