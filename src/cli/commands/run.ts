import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { loadStoredManifest } from '../../migrations/manifest/stored-manifest.ts';
import { type RunResult, resumeMigration, startMigration } from '../../migrations/start.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { commandLine, quoted, resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { type ExitCode, RUN_EXIT } from '../exit-code.ts';
import { renderTerms } from '../render/render-terms.ts';
import { orStopped, showRun } from '../show-run.ts';
import { openStagingOf } from '../storage.ts';
import { withRuntime } from '../with-runtime.ts';
import { sweep } from './rm.ts';

export interface RunCommandOptions {
  readonly produceOnly?: boolean;
}

interface StartCommandOptions extends RunCommandOptions {
  readonly topUp?: boolean;
}

export interface ResumeCommandOptions extends RunCommandOptions {
  readonly acceptRefusals?: boolean;
}

/** `backhaul run <manifest>`: starts a migration, or continues the one of that name. */
export async function run(
  context: CommandContext,
  path: string,
  { produceOnly, topUp }: StartCommandOptions,
): Promise<ExitCode> {
  const loaded = await loadManifest(path, { env: context.env });
  const again = commandLine(context, `run ${quoted(path)}${topUp ? ' --top-up' : ''}`);
  const start = (runtime: Runtime) =>
    showRun(context, { again, produceOnly, onBegin: createPageLink(context, runtime) }, (options) =>
      startMigration(runtime, loaded, { ...options, topUp }),
    );
  return runAndSweep(context, { again, api: loaded.manifest.destination === undefined }, start);
}

/** `again`: the command that continues where parts of the data folder do not start. */
const runAndSweep = (
  context: CommandContext,
  { again, api }: { readonly again: string; readonly api: boolean },
  start: (runtime: Runtime) => Promise<RunResult>,
): Promise<ExitCode> =>
  orStopped(again, () =>
    withRuntime(context, api, async (runtime) => {
      const { kind } = await start(runtime);
      await sweep(context);
      return RUN_EXIT[kind];
    }),
  );

/** Shows where the migration can be watched, where a server is known. */
const createPageLink =
  ({ terminal, settings }: CommandContext, { bundled }: Runtime) =>
  (migration: string): void => {
    if (bundled === undefined || terminal.json) return;
    terminal.info(
      `Watch it at ${settings.publicUrl ?? bundled.url}/migrations/${migration} (user ${bundled.queues.user}, password of the queues)`,
    );
  };

/** `backhaul resume <name>`: the same from what staging knows, whatever ended the migration. */
export async function resume(
  context: CommandContext,
  name: string,
  { produceOnly, acceptRefusals }: ResumeCommandOptions,
): Promise<ExitCode> {
  const again = resumeCommand(context, name);
  const { manifest } = await orStopped(again, async () =>
    loadStoredManifest(await openStagingOf(context), name),
  );
  context.terminal.info(
    `Resuming ${name} with ${renderTerms(manifest)}. To change them: edit the manifest and run it.`,
  );
  const start = (runtime: Runtime) =>
    showRun(
      context,
      { again, produceOnly, acceptRefusals, onBegin: createPageLink(context, runtime) },
      (options) => resumeMigration(runtime, name, options),
    );
  return runAndSweep(context, { again, api: manifest.destination === undefined }, start);
}
