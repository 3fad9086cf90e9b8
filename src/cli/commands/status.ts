import { ConfigError } from '../../lib/errors.ts';
import { loadStatus, type MigrationStatus, watchStatus } from '../../migrations/status.ts';
import { openStore } from '../../runtime/open-store.ts';
import { resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { bar, number } from '../render/render-status.ts';
import { listenForStop } from '../stop-signal.ts';

/** `backhaul status [name]`: of one migration, or of all. */
export async function status(
  context: CommandContext,
  name: string | undefined,
  options: { watch?: boolean },
): Promise<ExitCode> {
  const { settings, terminal } = context;
  const store = await openStore(settings);
  const assertSome = (all: readonly MigrationStatus[]) => {
    if (all.length > 0) return;
    throw new ConfigError(
      `there are no migrations in ${store.staging.location} yet; "backhaul run <manifest>" starts one (or BACKHAUL_DATA_DIR and BACKHAUL_STAGING name another place)`,
    );
  };
  const toDocument = (all: readonly MigrationStatus[]) => (name === undefined ? all : all[0]);

  if (!options.watch) {
    const all = await loadStatus(store, name);
    assertSome(all);
    terminal.data(toDocument(all), () =>
      all.map((each) => renderFull(each, resumeCommand(context, each.migration))).join('\n\n'),
    );
    return EXIT.done;
  }
  const stop = listenForStop(terminal, '');
  try {
    await watchStatus(store, name, {
      signal: stop.signal,
      onStatus(all) {
        assertSome(all);
        if (terminal.json) terminal.data(toDocument(all), () => '');
        else terminal.status(all.map(renderLine).join('   '));
      },
    });
    if (!stop.signal.aborted) terminal.endStatus();
    return EXIT.done;
  } finally {
    stop.dispose();
  }
}

const renderLine = ({ migration, state, counts, records }: MigrationStatus) =>
  `${migration} ${state} ${bar(counts.read, records.staged)} ${number(counts.read)}/${number(records.staged)} records`;

function renderFull(status: MigrationStatus, resume: string): string {
  const { counts, parts, records, reason } = status;
  return [
    `${status.migration}: ${status.state}${reason ? ` (${reason})` : ''}`,
    `  ${bar(counts.read, records.staged)}  ${number(counts.read)} of ${number(records.staged)} staged records, ${parts.done} of ${parts.staged} parts`,
    `  delivered ${number(counts.delivered)} · skipped ${number(counts.skipped)} · duplicate ${number(counts.duplicate)} · rejected ${number(counts.rejected)}`,
    ...(['running', 'finished', 'removed'].includes(status.state) ? [] : [`  continue with: ${resume}`]),
  ].join('\n');
}
