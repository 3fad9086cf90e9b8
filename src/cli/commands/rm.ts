import type { Manifest } from '../../../config/manifest/manifest.ts';
import { findProjectKey } from '../../embedded/api-keys.ts';
import { findReplaysLeft } from '../../migrations/remove/find-replays-left.ts';
import { removeMigration } from '../../migrations/remove/remove-migration.ts';
import { sweepFinished } from '../../migrations/remove/sweep.ts';
import { resolveLedger } from '../../migrations/resolve-destination.ts';
import { commandLine } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { openStoreOf } from '../storage.ts';

interface RmCommandOptions {
  readonly keepRejects?: boolean;
  readonly forget?: boolean;
}

/** `backhaul rm <name>`. */
export async function rm(
  context: CommandContext,
  name: string,
  { keepRejects = false, forget = false }: RmCommandOptions,
): Promise<ExitCode> {
  const { terminal, env } = context;
  const options = { keepRejects, forget, resolveLedger: createResolver(context), env };
  const store = await openStoreOf(context);
  // Before its record may go. A replay that is damaged keeps nothing else from being removed.
  const replays = await findReplaysLeft(store.staging, name, { forget }).catch(() => []);
  const { keptPlaces, isElsewhere, removedAt } = await removeMigration(store, name, options);
  const kept = {
    ...(keptPlaces === undefined ? {} : { keptPlaces }),
    ...(removedAt === undefined ? {} : { removedAt }),
    ...(replays.length === 0 ? {} : { replays }),
  };
  const report = `Its report stays: ${commandLine(context, `report ${name}`)}`;
  terminal.data({ migration: name, removed: true, keepRejects, forget, ...kept }, () =>
    isElsewhere
      ? `What an export or an import of ${name} left here is removed.`
      : forget
        ? `${name} is removed, with its report and all that was known of the persons of its destination.`
        : removedAt === undefined
          ? `${name} is removed. ${report}`
          : `${name} was removed already at ${removedAt.slice(0, 16).replace('T', ' ')}Z; nothing was left to remove. ${report}`,
  );
  const toRm = (of: string) => commandLine(context, `rm ${of}${forget ? ' --forget' : ''}`);
  for (const replay of replays)
    terminal.info(`${replay}, a replay of it, stays. To remove it: ${toRm(replay)}`);
  if (!forget && !isElsewhere) {
    terminal.info(
      `"status" lists ${name} until it is removed with --forget, which drops its report and what is known of the persons of its destination, too; later migrations merge nothing there: ${commandLine(context, `rm --forget ${name}`)}`,
    );
  }
  if (keptPlaces !== undefined) {
    terminal.info(
      `The file of places stays in staging as ${keptPlaces}, because other migrations may need it; it holds nothing of the export.`,
    );
  }
  return EXIT.done;
}

/** Removes what finished longer ago than the settings keep it. */
export async function sweep(context: CommandContext): Promise<void> {
  const { settings, terminal, env } = context;
  const { keepDays: afterDays } = settings;
  if (afterDays === undefined) return;
  const log = await context.openLog();
  const options = { afterDays, resolveLedger: createResolver(context), env, log };
  try {
    for (const name of await sweepFinished(await openStoreOf(context), options))
      terminal.info(`${name} finished more than ${afterDays} days ago and is removed; its report stays.`);
  } catch (error) {
    // The run has ended as it has, and the next one removes them.
    log.warn({ err: error }, 'finished migrations are not removed yet');
  }
}

/** The ledger of a rehearsal is found by the key of the bundled API, which need not run for that. */
const createResolver =
  ({ env, settings }: CommandContext) =>
  (manifest: Manifest) => {
    const projectKey = manifest.destination ? undefined : findProjectKey(settings.dataDir);
    return resolveLedger(manifest, { env, bundled: projectKey === undefined ? undefined : { projectKey } });
  };
