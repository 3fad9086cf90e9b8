import type { RunStatus } from '../../migrations/run/run-status.ts';

const BAR_WIDTH = 24;

/** One line: phase, bar, records, rate, time left. `rate` is in records a second. */
export function renderStatus(status: RunStatus, rate: number): string {
  const { phase, files, parts, counts, staged, personJobs, countedParts, waitingFor } = status;
  if (waitingFor !== undefined) return `${phase.padEnd(8)} waiting for ${waitingFor}`;
  if (phase === 'count')
    return `count    ${bar(countedParts, parts.known)} events counted, nothing is sent yet`;
  if (phase === 'people')
    return `persons  ${bar(personJobs.done, personJobs.total)} identities, persons and groups`;
  if (phase === 'report') return 'report   adding up';

  const complete = files.staged === files.total;
  const left = complete && rate > 0 ? ` · ${duration((staged - counts.read) / rate)} left` : '';
  const rejected = counts.rejected > 0 ? ` · ${number(counts.rejected)} rejected` : '';
  return [
    `${phase.padEnd(8)} ${bar(counts.read, staged)}`,
    ` ${number(counts.read)}/${number(staged)}${complete ? '' : '+'} records`,
    ` · ${number(rate)}/s${left}${rejected}`,
    ` · files ${files.staged}/${files.total} · parts ${parts.done}/${parts.known}`,
  ].join('');
}

export function bar(done: number, total: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 0;
  const full = Math.floor(share * BAR_WIDTH);
  return `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${String(Math.floor(share * 100)).padStart(3)}%`;
}

export const number = (value: number): string => Math.round(value).toLocaleString('en-US');

export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`;
}
