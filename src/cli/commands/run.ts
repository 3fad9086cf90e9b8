import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { loadStoredManifest } from '../../migrations/prepare.ts';
import { resumeMigration, startMigration } from '../../migrations/start.ts';
import { openStaging } from '../../runtime/open-staging.ts';
import { commandLine, quoted, resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { type ExitCode, RUN_EXIT } from '../exit-code.ts';
import { renderTerms } from '../render/render-terms.ts';
import { orStopped, showRun } from '../show-run.ts';
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
  return withRuntime(context, loaded.manifest.destination === undefined, async (runtime) => {
    const { kind } = await showRun(context, { again, produceOnly }, (options) =>
      startMigration(runtime, loaded, { ...options, topUp }),
    );
    await sweep(context);
    return RUN_EXIT[kind];
  });
}

/** `backhaul resume <name>`: the same from what staging knows, whatever ended the migration. */
export async function resume(
  context: CommandContext,
  name: string,
  { produceOnly, acceptRefusals }: ResumeCommandOptions,
): Promise<ExitCode> {
  const again = resumeCommand(context, name);
  const { manifest } = await orStopped(again, async () =>
    loadStoredManifest(await openStaging(context.settings), name),
  );
  context.terminal.info(
    `Resuming ${name} with ${renderTerms(manifest)}. To change them: edit the manifest and run it.`,
  );
  return withRuntime(context, manifest.destination === undefined, async (runtime) => {
    const { kind } = await showRun(context, { again, produceOnly, acceptRefusals }, (options) =>
      resumeMigration(runtime, name, options),
    );
    await sweep(context);
    return RUN_EXIT[kind];
  });
}
