import { loadManifest } from '../../../config/load-manifest.ts';
import { ConfigError, FencedOutError, messageOf } from '../../errors.ts';
import { loadControl, loadMigration } from '../../migration/migration.ts';
import { renderReport } from '../../report/render-report.ts';
import type { RunEnd } from '../../run/run-migration.ts';
import { ControlError } from '../../run/take-up.ts';
import { openSite, type Site } from '../../wire.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, StoppedError } from '../exit-code.ts';
import { manifestOfMigration, type Prepared, prepareMigration } from '../prepare-migration.ts';
import { renderStatus } from '../render-status.ts';
import { runPrepared } from '../run-prepared.ts';
import { stopSignal } from '../stop-signal.ts';

export interface RunOptions {
  readonly produceOnly?: boolean;
}

/** `backhaul run <manifest>`: starts a migration, or continues the one of that name. */
export async function run(context: CommandContext, path: string, options: RunOptions): Promise<ExitCode> {
  const loaded = await loadManifest(path, { env: context.env });
  return withSite(context, loaded.manifest.destination === undefined, async (site) => {
    const control = await loadControl(site.staging, loaded.manifest.name);
    if (control?.state === 'paused' || control?.state === 'cancelled') {
      throw new ConfigError(
        `migration "${loaded.manifest.name}" is ${control.state}${control.reason ? ` (${control.reason})` : ''}; go on with: backhaul resume ${loaded.manifest.name}`,
      );
    }
    return execute(context, site, await prepareMigration(site, loaded), options);
  });
}

/** `backhaul resume <name>`: the same, from what staging knows, whatever stopped the migration. */
export async function resume(context: CommandContext, name: string, options: RunOptions): Promise<ExitCode> {
  const loaded = await manifestOfMigration(context.settings, name);
  return withSite(context, loaded.manifest.destination === undefined, async (site) => {
    if (!(await loadMigration(site.staging, name))) throw new ConfigError(`there is no migration "${name}"`);
    return execute(context, site, await prepareMigration(site, loaded), options);
  });
}

export async function withSite<T>(
  { settings, env, log }: CommandContext,
  api: boolean,
  act: (site: Site) => Promise<T>,
): Promise<T> {
  const site = await openSite(settings, env, { api }, log);
  try {
    return await act(site);
  } finally {
    await site.close();
  }
}

/** Runs what was prepared, shows it, and tells the exit code. */
export async function execute(
  { terminal }: CommandContext,
  site: Site,
  prepared: Prepared,
  options: RunOptions,
): Promise<ExitCode> {
  const { name } = prepared.record;
  const resumeCommand = `backhaul resume ${name}`;
  const stop = stopSignal(terminal, `Stopped; everything so far is saved. Go on with: ${resumeCommand}`);
  const startedMs = performance.now();
  let readAtStart: number | undefined;
  try {
    const end = await runPrepared(site, prepared, {
      signal: AbortSignal.any([stop.signal, site.failed]),
      importHere: options.produceOnly !== true,
      onStatus(status) {
        if (status.phase === 'import') readAtStart ??= status.counts.read;
        terminal.status(renderStatus(status, performance.now() - startedMs, readAtStart ?? 0));
      },
    });
    terminal.endStatus();
    return conclude(terminal, prepared, end, resumeCommand);
  } catch (error) {
    terminal.endStatus();
    if (site.failed.aborted) {
      throw new StoppedError(
        `${messageOf(site.failed.reason)}. Everything so far is saved. Go on with: ${resumeCommand}`,
      );
    }
    if (error instanceof ControlError) {
      const reason = (await loadControl(site.staging, name))?.reason;
      throw new StoppedError(
        `The migration was ${error.state}${reason ? `: ${reason}` : ''}. Go on with: ${resumeCommand}`,
      );
    }
    if (error instanceof FencedOutError) throw new StoppedError(error.message);
    throw error;
  } finally {
    stop.dispose();
  }
}

function conclude(
  terminal: CommandContext['terminal'],
  prepared: Prepared,
  { report, failures }: RunEnd,
  resumeCommand: string,
): ExitCode {
  terminal.data(report, () => renderReport(report));
  for (const { work, reason } of failures) terminal.say(`${work.name} ${work.id}: ${reason}`);
  if (failures.length > 0) {
    terminal.say(`${failures.length} failed; what is there was delivered. Once mended: ${resumeCommand}`);
    return EXIT.failed;
  }
  if (!report.balanced) {
    terminal.say('The books do not balance: some record has no outcome or two. This is a bug in Backhaul.');
    return EXIT.failed;
  }
  if (prepared.tooManyRejects(report.counts)) {
    terminal.say(
      `More records were rejected than rejects.failAbove allows. See them: backhaul rejects ls ${prepared.record.name}`,
    );
    return EXIT.rejectsAboveThreshold;
  }
  return EXIT.done;
}
