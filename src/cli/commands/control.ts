import { ConfigError } from '../../lib/errors.ts';
import { type ControlResult, cancelMigration, pauseMigration } from '../../migrations/control.ts';
import type { MigrationStore } from '../../migrations/migration-runtime.ts';
import { keepTelling } from '../../migrations/notify/keep-telling.ts';
import { resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { openStoreOf } from '../storage.ts';

const REASON = 'asked for on the command line';

/** `backhaul pause <name>`. */
export const pause = async (context: CommandContext, name: string): Promise<ExitCode> =>
  show(context, name, await telling(context, name, (store) => pauseMigration(store, name, REASON)));

/** `backhaul cancel <name>`. */
export const cancel = async (context: CommandContext, name: string): Promise<ExitCode> =>
  show(context, name, await telling(context, name, (store) => cancelMigration(store, name, REASON)));

/** Where no process runs the migration, this one tells the webhook. */
async function telling<T>(
  context: CommandContext,
  name: string,
  act: (store: MigrationStore) => Promise<T>,
): Promise<T> {
  const store = await openStoreOf(context);
  const kept = await keepTelling({ ...store, log: await context.openLog() }, name);
  try {
    return await act(store);
  } finally {
    await kept.close();
  }
}

function show(context: CommandContext, name: string, result: ControlResult): ExitCode {
  if (result.kind === 'refused') throw new ConfigError(result.reason);
  const { terminal } = context;
  const { state, at, redisProblem } = result;
  if (redisProblem !== undefined) {
    terminal.info(
      `${redisProblem}. Staging holds that ${name} is ${state}; a run or worker learns of it once it looks there.`,
    );
  }
  terminal.data(
    { migration: name, state, at },
    () => `${name} is ${state}. Continue with: ${resumeCommand(context, name)}`,
  );
  return EXIT.done;
}
