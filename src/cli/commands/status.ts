import { describeTrouble } from '../../migrations/notify/find-trouble.ts';
import type { MigrationStatus, RunProgress } from '../../migrations/status/view.ts';
import { loadStatus, loadView, watchStatus } from '../../migrations/status/watch.ts';
import { openStore } from '../../runtime/open-store.ts';
import { resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { bar, duration, number } from '../render/render-status.ts';
import { listenForStop } from '../stop-signal.ts';
import { cutLine, OutputEndedError } from '../terminal.ts';

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
    const all = name === undefined ? await loadStatus(store) : [await loadView(store, name)];
    terminal.data(toDocument(all), () =>
      all.length === 0
        ? none
        : all.map((each) => renderFull(each, resumeCommand(context, each.migration))).join('\n\n'),
    );
    return all.some(({ state }) => state === 'damaged') ? EXIT.failed : EXIT.done;
  }
  const stop = listenForStop(terminal, '');
  try {
    await watchStatus(store, name, {
      signal: stop.signal,
      onStatus(all) {
        if (process.stderr.errored) throw new OutputEndedError();
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
  const { counts, parts, records, reason, run, webhook } = status;
  if (status.state === 'damaged') return `${status.migration}: damaged\n  ${reason}`;
  return [
    `${status.migration}: ${status.state}${reason ? ` (${reason})` : ''}`,
    `  ${bar(counts.read, records.staged)}  ${number(counts.read)} of ${number(records.staged)} staged records, ${parts.done} of ${parts.staged} parts`,
    `  delivered ${number(counts.delivered)} · skipped ${number(counts.skipped)} · duplicate ${number(counts.duplicate)} · rejected ${number(counts.rejected)}`,
    ...(run ? [`  ${renderRun(run)}`] : []),
    ...(webhook ? [`  the ${describeTrouble(webhook)}`] : []),
    ...(status.state === 'importing'
      ? [
          `  its import has not ended: run "backhaul state import <file>" with that file again, or remove what is here with "backhaul rm ${status.migration}"`,
        ]
      : []),
    ...(['running', 'unknown', 'finished', 'removed', 'moved', 'importing'].includes(status.state)
      ? []
      : [`  continue with: ${resume}`]),
  ].join('\n');
}

function renderRun({ phase, recordsPerSecond, secondsLeft, waitingFor }: RunProgress): string {
  const left = secondsLeft === undefined ? '' : ` · ${duration(secondsLeft)} left`;
  const waiting = waitingFor === undefined ? '' : ` · waiting for ${waitingFor}`;
  return `${phase}: ${number(recordsPerSecond)} records a second${left}${waiting}`;
}
