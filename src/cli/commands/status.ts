import { loadStatus, type MigrationStatus, type RunProgress, watchStatus } from '../../migrations/status.ts';
import { openStore } from '../../runtime/open-store.ts';
import { resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { bar, duration, number } from '../render/render-status.ts';
import { listenForStop } from '../stop-signal.ts';
import { cutLine } from '../terminal.ts';

/** `backhaul status [name]`: of one migration, or of all. */
export async function status(
  context: CommandContext,
  name: string | undefined,
  options: { watch?: boolean },
): Promise<ExitCode> {
  const { settings, terminal } = context;
  const store = await openStore(settings);
  const none = `There are no migrations in ${store.staging.location} yet; "backhaul run <manifest>" starts one (or BACKHAUL_DATA_DIR and BACKHAUL_STAGING name another place).`;
  const toDocument = (all: readonly MigrationStatus[]) => (name === undefined ? all : all[0]);

  if (!options.watch) {
    const all = await loadStatus(store, name);
    terminal.data(toDocument(all), () =>
      all.length === 0
        ? none
        : all.map((each) => renderFull(each, resumeCommand(context, each.migration))).join('\n\n'),
    );
    return EXIT.done;
  }
  const stop = listenForStop(terminal, '');
  try {
    await watchStatus(store, name, {
      signal: stop.signal,
      onStatus(all) {
        if (terminal.json) terminal.data(toDocument(all), () => '');
        else if (all.length === 0) terminal.info(none);
        else terminal.status((columns) => renderLines(all, columns));
      },
    });
    if (!stop.signal.aborted) terminal.endStatus();
    return EXIT.done;
  } finally {
    stop.dispose();
  }
}

/** All in one line: those that run, then how many there are of the others. */
function renderLines(all: readonly MigrationStatus[], columns: number): string {
  if (all.length === 1) return all.map((one) => renderLine(one, columns)).join('');
  const running = all.filter(({ state }) => state === 'running');
  const others = all.length - running.length;
  const parts = [
    ...running.map((one) => renderLine(one, 0)),
    ...(others > 0 ? [`${number(others)} not running`] : []),
  ];
  return cutLine(parts.join('   '), columns);
}

function renderLine({ migration, state, counts, records, run }: MigrationStatus, columns: number): string {
  const left = run?.secondsLeft === undefined ? '' : ` · ${duration(run.secondsLeft)} left`;
  const waiting = run?.waitingFor === undefined ? '' : ` · waiting for ${run.waitingFor}`;
  const numbers = `${number(counts.read)}/${number(records.staged)} records${left}${waiting}`;
  const whole = `${migration} ${state} ${bar(counts.read, records.staged)} ${numbers}`;
  return whole.length <= columns ? whole : `${migration} ${state} ${numbers}`;
}

function renderFull(status: MigrationStatus, resume: string): string {
  const { counts, parts, records, reason, run } = status;
  return [
    `${status.migration}: ${status.state}${reason ? ` (${reason})` : ''}`,
    `  ${bar(counts.read, records.staged)}  ${number(counts.read)} of ${number(records.staged)} staged records, ${parts.done} of ${parts.staged} parts`,
    `  delivered ${number(counts.delivered)} · skipped ${number(counts.skipped)} · duplicate ${number(counts.duplicate)} · rejected ${number(counts.rejected)}`,
    ...(run ? [`  ${renderRun(run)}`] : []),
    ...(['running', 'finished', 'removed'].includes(status.state) ? [] : [`  continue with: ${resume}`]),
  ].join('\n');
}

function renderRun({ phase, recordsPerSecond, secondsLeft, waitingFor }: RunProgress): string {
  if (waitingFor !== undefined) return `${phase}: waiting for ${waitingFor}`;
  const left = secondsLeft === undefined ? '' : ` · ${duration(secondsLeft)} left`;
  return `${phase}: ${number(recordsPerSecond)} records a second${left}`;
}
