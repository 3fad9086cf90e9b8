import { describeTrouble } from '../../migrations/notify/find-trouble.ts';
import type { MigrationStatus, MigrationView, RunProgress } from '../../migrations/status/view.ts';
import { loadStatus, loadView, watchStatus } from '../../migrations/status/watch.ts';
import { commandLine } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { bar, duration, number } from '../render/render-status.ts';
import { renderWatch, renderWatchEnd } from '../render/render-watch.ts';
import { listenForStop } from '../stop-signal.ts';
import { openStoreOf } from '../storage.ts';
import { OutputEndedError } from '../terminal.ts';

/** `backhaul status [name]`: of one migration, or of all. */
export async function status(
  context: CommandContext,
  name: string | undefined,
  options: { watch?: boolean },
): Promise<ExitCode> {
  const { terminal } = context;
  const store = await openStoreOf(context);
  const none = async () => {
    // With schedules come cron and time zones.
    const { listSchedules } = await import('../../migrations/schedule/schedules.ts');
    return (await listSchedules(store)).length > 0
      ? `There are no migrations in ${store.staging.location} yet, but schedules, which start them: ${commandLine(context, 'schedule ls')}`
      : `There are no migrations in ${store.staging.location} yet; "backhaul run <manifest>" starts one (or BACKHAUL_DATA_DIR and BACKHAUL_STAGING name another place).`;
  };
  const toDocument = (all: readonly MigrationStatus[]) => (name === undefined ? all : all[0]);

  if (!options.watch) {
    const all = name === undefined ? await loadStatus(store) : [await loadView(store, name)];
    const noneText = all.length === 0 ? await none() : '';
    terminal.data(toDocument(all), () =>
      all.length === 0
        ? noneText
        : [...all]
            .sort((a, b) => Number(a.state === 'removed') - Number(b.state === 'removed'))
            .map((each) =>
              renderFull(each, (command) => commandLine(context, `${command} ${each.migration}`)),
            )
            .join('\n\n'),
    );
    return all.some(({ state }) => state === 'damaged') ? EXIT.failed : EXIT.done;
  }
  const stop = listenForStop(terminal, '');
  let last: readonly MigrationStatus[] = [];
  try {
    await watchStatus(store, name, {
      signal: stop.signal,
      onStatus(all) {
        if (process.stderr.errored) throw new OutputEndedError();
        if (terminal.json) terminal.data(toDocument(all), () => '');
        else if (all.length > 0) terminal.status((columns) => renderWatch(all, columns));
        last = all;
      },
    });
    if (stop.signal.aborted) return EXIT.done;
    terminal.endStatus();
    if (last.length > 0) terminal.info(renderWatchEnd(last));
    else if (!terminal.json) terminal.info(await none());
    return EXIT.done;
  } finally {
    stop.dispose();
  }
}

/** `toCommand`: a command of that name for the migration, to be pasted. */
function renderFull(status: MigrationStatus | MigrationView, toCommand: (name: string) => string): string {
  const { counts, parts, records, reason, run, webhook } = status;
  const outcomes = `delivered ${number(counts.delivered)} · skipped ${number(counts.skipped)} · duplicate ${number(counts.duplicate)} · rejected ${number(counts.rejected)}`;
  if (status.state === 'damaged') return `${status.migration}: damaged\n  ${reason}`;
  if (status.state === 'removed')
    return [
      `${status.migration}: removed ${status.since.slice(0, 16).replace('T', ' ')}Z; ${reason}`,
      `  of ${number(counts.read)} records: ${outcomes}`,
      `  see: ${toCommand('report')}`,
    ].join('\n');
  return [
    `${status.migration}: ${status.state}${reason ? ` (${reason})` : ''}`,
    `  ${bar(counts.read, records.staged)}  ${number(counts.read)} of ${number(records.staged)} staged records, ${parts.done} of ${parts.staged} parts`,
    `  ${outcomes}`,
    ...(run ? [`  ${renderRun(run)}`] : []),
    ...(webhook ? [`  the ${describeTrouble(webhook)}`] : []),
    ...(status.state === 'importing'
      ? [
          `  its import has not ended: run "backhaul state import <file>" with that file again, or remove what is here with "${toCommand('rm')}"`,
        ]
      : []),
    ...(isHeld(status)
      ? [
          `  its persons are held; send them, together with what else of the export is held: ${toCommand('persons send')} <others>`,
        ]
      : []),
    ...(['running', 'unknown', 'finished', 'moved', 'importing'].includes(status.state)
      ? []
      : [`  continue with: ${toCommand('resume')}`]),
  ].join('\n');
}

/** The list knows no reports. */
const isHeld = (status: MigrationStatus | MigrationView): boolean =>
  'report' in status && status.report?.people.held === true;

function renderRun({ phase, recordsPerSecond, secondsLeft, waitingFor }: RunProgress): string {
  const left = secondsLeft === undefined ? '' : ` · ${duration(secondsLeft)} left`;
  const waiting = waitingFor === undefined ? '' : ` · waiting for ${waitingFor}`;
  return `${phase}: ${number(recordsPerSecond)} records a second${left}${waiting}`;
}
