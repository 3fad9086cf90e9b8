import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { ConfigError } from '../../lib/errors.ts';
import { decideStored, RefusedError, requireMigration } from '../../migrations/life-store.ts';
import { loadManifestOfMigration, type Prepared, prepareMigration } from '../../migrations/prepare.ts';
import { ControlError } from '../../migrations/run/lease.ts';
import type { RunEnd } from '../../migrations/run/run-migration.ts';
import { runPrepared } from '../../migrations/start.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { loadControl } from '../../state/migrations.ts';
import { commandLine, quoted, resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { createRecentRate } from '../render/recent-rate.ts';
import { renderReport } from '../render/render-report.ts';
import { renderStatus } from '../render/render-status.ts';
import { stopSignal } from '../stop-signal.ts';
import { stoppedBy } from '../stopped-by.ts';
import { withRuntime } from '../with-runtime.ts';

export interface RunOptions {
  readonly produceOnly?: boolean;
}

/** `backhaul run <manifest>`: starts a migration, or continues the one of that name. */
export async function run(context: CommandContext, path: string, options: RunOptions): Promise<ExitCode> {
  const loaded = await loadManifest(path, { env: context.env });
  return withRuntime(context, loaded.manifest.destination === undefined, async (site) => {
    const again = commandLine(context, `run ${quoted(path)}`);
    await orResumable(again, () => assertRunnable(site, loaded.manifest.name, context));
    const prepared = await orResumable(again, () => prepareMigration(site, loaded));
    return execute(context, site, prepared, options, 'run');
  });
}

/** `backhaul resume <name>`: the same, from what staging knows, whatever stopped the migration. */
export async function resume(context: CommandContext, name: string, options: RunOptions): Promise<ExitCode> {
  const again = resumeCommand(context, name);
  const loaded = await orResumable(again, () => loadManifestOfMigration(context.settings, name));
  return withRuntime(context, loaded.manifest.destination === undefined, async (site) => {
    const prepared = await orResumable(again, async () => {
      await requireMigration(site.staging, name);
      return prepareMigration(site, loaded);
    });
    return execute(context, site, prepared, options, 'resume');
  });
}

/** A paused or cancelled migration is continued by `resume` alone. */
async function assertRunnable({ staging }: Runtime, name: string, context: CommandContext): Promise<void> {
  try {
    await decideStored(staging, name, { kind: 'run' });
  } catch (error) {
    if (error instanceof RefusedError && error.refusal === 'resume_first')
      throw new ConfigError(`${error.message}; go on with: ${resumeCommand(context, name)}`);
    throw error;
  }
}

/** Where the other side is down before anything was begun, the same command goes on later. */
async function orResumable<T>(again: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw stoppedBy(error, again);
  }
}

/** Runs what was prepared, shows it, and tells the exit code. */
export async function execute(
  context: CommandContext,
  site: Runtime,
  prepared: Prepared,
  options: RunOptions,
  cause: 'run' | 'resume',
): Promise<ExitCode> {
  const { terminal } = context;
  const { name } = prepared.record;
  const goOnWith = resumeCommand(context, name);
  const stop = stopSignal(terminal, `Stopped; everything so far is saved. Go on with: ${goOnWith}`);
  const rateOf = createRecentRate();
  try {
    const end = await runPrepared(site, prepared, {
      signal: AbortSignal.any([stop.signal, site.failed]),
      importHere: options.produceOnly !== true,
      cause,
      onStatus(status) {
        const rate = status.phase === 'import' ? rateOf(status.counts.read, performance.now()) : 0;
        terminal.status(renderStatus(status, rate));
      },
    });
    terminal.endStatus();
    return conclude(context, prepared, end);
  } catch (error) {
    terminal.endStatus();
    const control =
      error instanceof ControlError
        ? await loadControl(site.staging, name).catch(() => undefined)
        : undefined;
    throw stoppedBy(error, goOnWith, { failed: site.failed, reason: control?.reason });
  } finally {
    stop.dispose();
  }
}

function conclude(context: CommandContext, prepared: Prepared, { report, failures }: RunEnd): ExitCode {
  const { terminal } = context;
  const { name } = prepared.record;
  terminal.data(report, () => renderReport(report));
  for (const { work, reason } of failures) terminal.say(`${work.name} ${work.id}: ${reason}`);
  if (failures.length > 0) {
    terminal.say(
      `${failures.length} failed; what is there was delivered. Once mended: ${resumeCommand(context, name)}`,
    );
    return EXIT.failed;
  }
  if (!report.balanced) {
    terminal.say(
      'The books do not balance: the problems are named in the report above. Objects of staging are lost, or this is a bug in Backhaul; please report it with the report.',
    );
    return EXIT.failed;
  }
  if (prepared.tooManyRejects(report.counts)) {
    terminal.say(
      `More records were rejected than rejects.failAbove allows. See them: ${commandLine(context, `rejects ls ${name}`)}`,
    );
    return EXIT.rejectsAboveThreshold;
  }
  return EXIT.done;
}
