import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { ConfigError } from '../../lib/errors.ts';
import { loadStoredManifest } from '../../migrations/manifest/stored-manifest.ts';
import { listRejects, showRejects } from '../../migrations/rejects/rejects.ts';
import { replayRejects } from '../../migrations/rejects/replay.ts';
import { commandLine, quoted } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, RUN_EXIT } from '../exit-code.ts';
import { renderReject } from '../render/render-reject.ts';
import { renderNothingLeft, renderRejects } from '../render/render-rejects.ts';
import { orStopped, showRun } from '../show-run.ts';
import { openStagingOf, openStoreOf } from '../storage.ts';
import { withRuntime } from '../with-runtime.ts';

/** `backhaul rejects ls`: how many, for which reason, with one example each. */
export async function list({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const { reasons, replays } = await listRejects(await openStoreOf({ settings, terminal }), name);
  terminal.data({ migration: name, rejects: reasons, replays }, () =>
    reasons.length === 0 ? `${name} has no rejects.` : renderRejects(reasons, replays),
  );
  return EXIT.done;
}

/** `backhaul rejects show`: the records, to be read at a terminal, and else as lines of JSON. */
export async function show(
  { settings, terminal }: CommandContext,
  name: string,
  options: { reason?: string; limit: string },
): Promise<ExitCode> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1) {
    throw new ConfigError(`--limit takes a whole number above 0, not "${options.limit}"`);
  }
  const { more } = await showRejects(await openStoreOf({ settings, terminal }), name, {
    reason: options.reason,
    limit,
    onReject: (line) =>
      terminal.data(line, () => (process.stdout.isTTY ? renderReject(line) : JSON.stringify(line))),
  });
  if (more) terminal.info(`… and more; --limit <count> shows them`);
  return EXIT.done;
}

/** `backhaul rejects replay`: sends them again, as a migration of their own. */
export async function replay(
  context: CommandContext,
  name: string,
  { manifest: path, reason, again: sentToo = false }: { manifest?: string; reason?: string; again?: boolean },
): Promise<ExitCode> {
  const { terminal, env } = context;
  const loaded = path
    ? await loadManifest(path, { env })
    : await loadStoredManifest(await openStagingOf(context), name);
  const again = commandLine(
    context,
    `rejects replay ${name}${path ? ` --manifest ${quoted(path)}` : ''}${reason ? ` --reason ${quoted(reason)}` : ''}${sentToo ? ' --again' : ''}`,
  );
  const onContinue = (replay: string) =>
    terminal.info(
      `${replay} was begun before and has not finished: it continues with the rejects that there were then. Replay again afterwards to send those that came since.`,
    );
  const replayed = withRuntime(context, loaded.manifest.destination === undefined, async (runtime) => {
    const shown = {
      again,
      onBegin: (replay: string) => terminal.info(`Replaying the rejects of ${name} as migration ${replay}.`),
    };
    const ended = await showRun(context, shown, (options) =>
      replayRejects(runtime, name, { loaded, reason, again: sentToo, onContinue }, options),
    );
    if (ended.kind !== 'nothing_to_replay') return RUN_EXIT[ended.kind];
    const { replays } = ended;
    if (terminal.json) terminal.data({ migration: name, replayed: 0, replays }, () => '');
    terminal.info(
      replays.length === 0
        ? `${name} has no such rejects that can be replayed. See what there is: ${commandLine(context, `rejects ls ${name}`)}`
        : renderNothingLeft(name, replays, (of) => commandLine(context, of)),
    );
    return EXIT.done;
  });
  return orStopped(again, () => replayed);
}
