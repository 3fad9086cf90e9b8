import { basename } from 'node:path';
import type { CommandContext } from './context.ts';

type Caller = Pick<CommandContext, 'env' | 'settings'>;

/** The command that continues a migration, to be pasted as it is. */
export const resumeCommand = (context: Caller, name: string, argv?: readonly string[]): string =>
  commandLine(context, `resume ${name}`, argv);

/**
 * A command to be pasted as it is: with the program and the data folder of this process. Holds no secret: the
 * data folder is the only variable in it.
 */
export function commandLine(
  { env, settings }: Caller,
  command: string,
  argv: readonly string[] = process.argv,
): string {
  const program = argv[1] ?? '';
  const byNpm = env['npm_command'] === 'exec' || env['npm_command'] === 'run-script';
  const called = byNpm
    ? 'npx backhaul'
    : basename(program) === 'backhaul'
      ? 'backhaul'
      : `node ${quoted(program)}`;
  const folder = env['BACKHAUL_DATA_DIR'] ? `BACKHAUL_DATA_DIR=${quoted(settings.dataDir)} ` : '';
  return `${folder}${called} ${command}`;
}

/** An argument that a shell reads as one word. */
export const quoted = (text: string) =>
  /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
