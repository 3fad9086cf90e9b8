import { basename } from 'node:path';
import type { CommandContext } from './context.ts';

type Caller = Pick<CommandContext, 'env' | 'settings'>;

/** The command that continues a migration, to be pasted as it is. */
export const resumeCommand = (context: Caller, name: string, argv?: readonly string[]): string =>
  commandLine(context, `resume ${name}`, argv);

/**
 * A command to be pasted as it is: with the program of this process, and the data folder, Redis and staging that its
 * environment names. Holds no secret: of a Redis with a password only the variable is named, to be filled in.
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
  const { BACKHAUL_DATA_DIR: folder, REDIS_URL: redis, BACKHAUL_STAGING: staging } = env;
  const variables = [
    ...(folder ? [`BACKHAUL_DATA_DIR=${quoted(settings.dataDir)}`] : []),
    ...(redis ? [`REDIS_URL=${hasPassword(redis) ? '…' : quoted(redis)}`] : []),
    ...(staging ? [`BACKHAUL_STAGING=${quoted(staging)}`] : []),
  ];
  return [...variables, called, command].join(' ');
}

const hasPassword = (url: string): boolean => {
  if (!URL.canParse(url)) return true;
  const { username, password, search } = new URL(url);
  return username !== '' || password !== '' || search !== '';
};

/** An argument that a shell reads as one word. */
export const quoted = (text: string) =>
  /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
