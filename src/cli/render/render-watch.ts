import { wrap } from '../../migrations/plan/format-text.ts';
import type { MigrationStatus } from '../../migrations/status/view.ts';
import { cutLine } from '../terminal.ts';
import { bar, duration, number } from './render-status.ts';

/** What `status --watch` shows, in lines of at most so many columns: what runs, then how many there are of the others. */
export function renderWatch(all: readonly MigrationStatus[], columns: number): string[] {
  const shown = all.length === 1 ? all : all.filter(({ state }) => state === 'running');
  const others = all.filter((one) => !shown.includes(one));
  return [
    ...shown.flatMap((one) => renderOne(one, columns)),
    ...(others.length > 0 ? [cutLine(`not running: ${countStates(others)}`, columns)] : []),
  ];
}

/** Why watching ends: nothing runs, and in which state what does not. */
export const renderWatchEnd = (all: readonly MigrationStatus[]): string => {
  const [one] = all;
  const states = all.length === 1 && one ? `${one.migration} is ${one.state}` : countStates(all);
  return `Nothing runs any more: ${states}.`;
};

/** The bar gives way first, then the time left; what is waited for has lines of its own. */
function renderOne({ migration, state, counts, records, run }: MigrationStatus, columns: number): string[] {
  const numbers = `${number(counts.read)}/${number(records.staged)} records`;
  const left = run?.secondsLeft === undefined ? '' : ` · ${duration(run.secondsLeft)} left`;
  const forms = [
    `${migration} ${state} ${bar(counts.read, records.staged)} ${numbers}${left}`,
    `${migration} ${state} ${numbers}${left}`,
    `${migration} ${state} ${numbers}`,
  ];
  const line = forms.find(({ length }) => length <= columns) ?? cutLine(forms.at(-1) ?? '', columns);
  const waiting = run?.waitingFor;
  return waiting === undefined ? [line] : [line, ...wrap(`waiting for ${waiting}`, '  ', '  ', columns)];
}

/** `2 finished, 1 paused` */
function countStates(all: readonly MigrationStatus[]): string {
  const counts = new Map<string, number>();
  for (const { state } of all) counts.set(state, (counts.get(state) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${number(count)} ${state}`).join(', ');
}
