import { setTimeout as wait } from 'node:timers/promises';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../errors.ts';
import { listMigrations, loadControl, loadMigration } from '../../migration/migration.ts';
import { openStaging } from '../../wire.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { noSuchMigration } from '../no-such-migration.ts';
import { createProgressReader, type Progress } from '../read-progress.ts';
import { bar, number } from '../render-status.ts';
import { stopSignal } from '../stop-signal.ts';

interface MigrationStatus extends Progress {
  readonly migration: string;
  readonly state: string;
  readonly reason: string;
}

const WATCH_EVERY_MS = 2_000;

/** `backhaul status`: told from staging alone, so that it works with or without a running producer. */
export async function status(
  { settings, terminal }: CommandContext,
  name: string | undefined,
  options: { watch?: boolean },
): Promise<ExitCode> {
  const staging = openStaging(settings);
  const names = name === undefined ? await listMigrations(staging) : [name];
  if (names.length === 0)
    throw new ConfigError(
      `there are no migrations in ${staging.location} yet; "backhaul run <manifest>" starts one (or BACKHAUL_DATA_DIR and BACKHAUL_STAGING name another place)`,
    );
  const readers = await Promise.all(names.map((each) => createStatusReader(staging, each)));
  const stop = stopSignal(terminal, '');
  try {
    for (;;) {
      const all = await Promise.all(readers.map((read) => read()));
      const document = name === undefined ? all : all[0];
      if (!options.watch) {
        terminal.data(document, () => all.map(renderFull).join('\n\n'));
        return EXIT.done;
      }
      if (terminal.json) terminal.data(document, () => '');
      else terminal.status(all.map(renderLine).join('   '));
      if (all.every(({ state }) => state !== 'running')) {
        terminal.endStatus();
        return EXIT.done;
      }
      await wait(WATCH_EVERY_MS, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return EXIT.done;
    }
  } finally {
    stop.dispose();
  }
}

async function createStatusReader(staging: Staging, name: string): Promise<() => Promise<MigrationStatus>> {
  if (!(await loadMigration(staging, name))) throw await noSuchMigration(staging, name);
  const readProgress = createProgressReader(staging, name);
  return async () => {
    const control = await loadControl(staging, name);
    return {
      migration: name,
      state: control?.state ?? 'running',
      reason: control?.reason ?? '',
      ...(await readProgress()),
    };
  };
}

const renderLine = ({ migration, state, counts, records }: MigrationStatus) =>
  `${migration} ${state} ${bar(counts.read, records.staged)} ${number(counts.read)}/${number(records.staged)} records`;

function renderFull(status: MigrationStatus): string {
  const { counts, parts, records, reason } = status;
  return [
    `${status.migration}: ${status.state}${reason ? ` (${reason})` : ''}`,
    `  ${bar(counts.read, records.staged)}  ${number(counts.read)} of ${number(records.staged)} staged records, ${parts.done} of ${parts.staged} parts`,
    `  delivered ${number(counts.delivered)} · skipped ${number(counts.skipped)} · duplicate ${number(counts.duplicate)} · rejected ${number(counts.rejected)}`,
    ...(status.state === 'paused' || status.state === 'cancelled'
      ? [`  go on with: backhaul resume ${status.migration}`]
      : []),
  ].join('\n');
}
