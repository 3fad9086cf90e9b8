import { basename } from 'node:path';
import type { CommandContext } from './context.ts';

type Called = Pick<CommandContext, 'env' | 'settings'>;

/** The command that goes on with a migration, to be pasted as it is. */
export const resumeCommand = (context: Called, name: string, argv?: readonly string[]): string =>
  commandLine(context, `resume ${name}`, argv);

/**
 * A command to be pasted as it is: called as this process was, in the same data folder. Holds no secret:
 * of the variables, only the folder is repeated.
 */
export function commandLine(
  { env, settings }: Called,
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

/** An argument that a shell takes for one word. */
export const quoted = (text: string) =>
  /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
