import { findProjectKey } from '../../../embedded/api-keys.ts';
import { FencedOutError } from '../../../lib/errors.ts';
import { exportState } from '../../../migrations/move/export-state.ts';
import { importState } from '../../../migrations/move/import-state.ts';
import { takeBack } from '../../../migrations/move/take-back.ts';
import { formatBytes, formatCount } from '../../../migrations/plan/format-text.ts';
import { commandLine, quoted, resumeCommand } from '../../command-line.ts';
import type { CommandContext } from '../../context.ts';
import { EXIT, type ExitCode } from '../../exit-code.ts';
import { listenForStop } from '../../stop-signal.ts';
import { openStoreOf } from '../../storage.ts';
import { withRuntime } from '../../with-runtime.ts';

/** `backhaul state export <name...>`. Needs the Redis of the migrations, which has their latest checkpoints. */
export async function exportTo(
  context: CommandContext,
  names: readonly string[],
  { to, version }: { readonly to: string; readonly version: string },
): Promise<ExitCode> {
  const { terminal } = context;
  const stop = listenForStop(terminal, 'Nothing was exported.');
  try {
    const written = await withRuntime(context, false, (runtime) =>
      exportState(runtime, names, {
        file: to,
        version,
        signal: stop.signal,
        onProgress: (objects, bytes) =>
          terminal.status(() => `${formatCount(objects)} objects, ${formatBytes(bytes)} written`),
      }),
    );
    const { file, ...sums } = written;
    terminal.data({ exported: names, file, ...sums }, () =>
      [
        `${names.join(', ')}: ${formatCount(sums.files)} objects, ${formatBytes(sums.bytes)} in ${file}`,
        'It holds records of the export: keep it as safe as these. On the other machine:',
        `  backhaul state import ${quoted(to)}`,
        `Nothing runs here any more until it is brought back: ${commandLine(context, `state take-back ${names[0]}`)}`,
      ].join('\n'),
    );
    return EXIT.done;
  } finally {
    terminal.endStatus();
    stop.dispose();
  }
}

/** `backhaul state import <file>`. */
export async function importFrom(context: CommandContext, file: string): Promise<ExitCode> {
  const { settings, terminal } = context;
  const unfinished = `Not all is imported, and nothing runs yet; continue with: ${commandLine(context, `state import ${quoted(file)}`)}`;
  const stop = listenForStop(terminal, unfinished);
  let hasBegun = false;
  try {
    const { migrations, ...sums } = await importState(await openStoreOf(context), file, {
      bundledKey: findProjectKey(settings.dataDir),
      signal: stop.signal,
      onBegin: () => {
        hasBegun = true;
      },
      onProgress: (objects, of) =>
        terminal.status(() => `${formatCount(objects)} of ${formatCount(of)} objects imported`),
    });
    terminal.data({ imported: migrations, ...sums }, () =>
      [
        `${migrations.join(', ')}: ${formatCount(sums.files)} objects, ${formatBytes(sums.bytes)} imported.`,
        ...migrations.map((name) => `Continue with: ${resumeCommand(context, name)}`),
      ].join('\n'),
    );
    return EXIT.done;
  } catch (error) {
    const isOurs = hasBegun && !stop.signal.aborted && !(error instanceof FencedOutError);
    if (isOurs) terminal.info(unfinished);
    throw error;
  } finally {
    terminal.endStatus();
    stop.dispose();
  }
}

/** `backhaul state take-back <name>`. */
export async function takeBackMoved(context: CommandContext, name: string): Promise<ExitCode> {
  const { terminal } = context;
  const migrations = await takeBack(await openStoreOf(context), name);
  terminal.data({ takenBack: migrations }, () =>
    [
      `${migrations.join(', ')} can run here again. Import the file of the export nowhere any more.`,
      `Continue with: ${resumeCommand(context, name)}`,
    ].join('\n'),
  );
  return EXIT.done;
}
