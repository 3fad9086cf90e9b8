import { setTimeout as wait } from 'node:timers/promises';
import type { Settings } from '../../../config/settings.ts';
import type { Staging } from '../../contract/staging.ts';
import { findRunningRedis } from '../../embedded/supervisor.ts';
import { ConfigError } from '../../lib/errors.ts';
import { requireMigration } from '../../migrations/life-store.ts';
import { leaseKey } from '../../migrations/run/lease.ts';
import { createProgressReader, type Progress } from '../../migrations/status.ts';
import { openStaging } from '../../runtime/open-staging.ts';
import { reachRedis } from '../../runtime/reach-redis.ts';
import { listMigrations, loadControl } from '../../state/migrations.ts';
import { resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { bar, number } from '../render/render-status.ts';
import { stopSignal } from '../stop-signal.ts';

interface MigrationStatus extends Progress {
  readonly migration: string;
  readonly state: string;
  readonly reason: string;
}

const WATCH_EVERY_MS = 2_000;

/** `backhaul status`: told from staging, and from Redis whether somebody drives it. */
export async function status(
  context: CommandContext,
  name: string | undefined,
  options: { watch?: boolean },
): Promise<ExitCode> {
  const { settings, terminal } = context;
  const staging = await openStaging(settings);
  const names = name === undefined ? await listMigrations(staging) : [name];
  if (names.length === 0)
    throw new ConfigError(
      `there are no migrations in ${staging.location} yet; "backhaul run <manifest>" starts one (or BACKHAUL_DATA_DIR and BACKHAUL_STAGING name another place)`,
    );
  const readers = await Promise.all(names.map((each) => createStatusReader(staging, each, settings)));
  const stop = stopSignal(terminal, '');
  try {
    for (;;) {
      const all = await Promise.all(readers.map((read) => read()));
      const document = name === undefined ? all : all[0];
      if (!options.watch) {
        terminal.data(document, () =>
          all.map((each) => renderFull(each, resumeCommand(context, each.migration))).join('\n\n'),
        );
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

async function createStatusReader(
  staging: Staging,
  name: string,
  settings: Settings,
): Promise<() => Promise<MigrationStatus>> {
  const record = await requireMigration(staging, name);
  const readProgress = createProgressReader(staging, name);
  return async () => {
    const control = await loadControl(staging, name);
    const state = control?.state ?? 'running';
    const interrupted = state === 'running' && !(await isDriven(settings, record.id));
    return {
      migration: name,
      state: interrupted ? 'interrupted' : state,
      reason: interrupted ? 'nobody drives it: its process was killed' : (control?.reason ?? ''),
      ...(await readProgress()),
    };
  };
}

/** Whether a producer holds the migration's lease; nobody does where no Redis is to be reached. */
async function isDriven(settings: Settings, migrationId: string): Promise<boolean> {
  const redisUrl = settings.redisUrl ?? (await findRunningRedis(settings.dataDir));
  if (!redisUrl) return false;
  return reachRedis(redisUrl, async (redis) => (await redis.exists(leaseKey(migrationId))) === 1).catch(
    () => false,
  );
}

const renderLine = ({ migration, state, counts, records }: MigrationStatus) =>
  `${migration} ${state} ${bar(counts.read, records.staged)} ${number(counts.read)}/${number(records.staged)} records`;

function renderFull(status: MigrationStatus, goOnWith: string): string {
  const { counts, parts, records, reason } = status;
  return [
    `${status.migration}: ${status.state}${reason ? ` (${reason})` : ''}`,
    `  ${bar(counts.read, records.staged)}  ${number(counts.read)} of ${number(records.staged)} staged records, ${parts.done} of ${parts.staged} parts`,
    `  delivered ${number(counts.delivered)} · skipped ${number(counts.skipped)} · duplicate ${number(counts.duplicate)} · rejected ${number(counts.rejected)}`,
    ...(status.state === 'running' || status.state === 'finished' ? [] : [`  go on with: ${goOnWith}`]),
  ].join('\n');
}
