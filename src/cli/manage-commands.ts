import { type Command, Option } from 'commander';
import type { FlagOptions, TestFlagOptions } from './commands/flags.ts';
import type { CreateKeyOptions } from './commands/keys.ts';
import type { CommandContext } from './context.ts';
import type { ExitCode } from './exit-code.ts';

/** Makes the action of a command, which is passed the context; see program.ts. */
export type Act = <A extends unknown[]>(
  command: (context: CommandContext, ...args: A) => Promise<ExitCode>,
) => (...args: unknown[]) => Promise<void>;

/** `keys`, `users`, `projects`, `flags`, `database` and `deletions` of the bundled API. */
export function addManageCommands(program: Command, act: Act): void {
  const group = (name: string, description: string) => {
    const parent = program.command(name).description(description);
    return (usage: string, help: string) =>
      parent.command(usage).description(help).addOption(new Option('--json').hideHelp());
  };

  const keys = group('keys', 'personal keys of the bundled API: who may read and manage what');
  keys('create', 'make a key and print it, only this once')
    .requiredOption('--label <text>', 'what it is for')
    .requiredOption('--scope <scope...>', 'what it may do, such as person:read; * for everything')
    .option('--project <id...>', 'only in these projects')
    .option('--user <email>', 'the user it acts for (default: the owner of this data folder)')
    .action(
      act(async (context, options: CreateKeyOptions) =>
        (await import('./commands/keys.ts')).createKey(context, options),
      ),
    );
  keys('list', 'all keys, with scopes, projects and last use')
    .alias('ls')
    .action(act(async (context) => (await import('./commands/keys.ts')).listKeys(context)));
  keys('revoke <id>', 'revoke a key, at once and for good').action(
    act(async (context, id: string) => (await import('./commands/keys.ts')).revokeKey(context, id)),
  );

  const users = group('users', 'users that keys of the bundled API act for');
  users('add <email>', 'add a user to the organization')
    .requiredOption('--name <name>', 'first name, and last name after a blank')
    .option('--level <level>', 'member, admin or owner', 'member')
    .action(
      act(async (context, email: string, options: { name: string; level: string }) =>
        (await import('./commands/users.ts')).addUser(context, email, options),
      ),
    );
  users('list', 'all users and their levels')
    .alias('ls')
    .action(act(async (context) => (await import('./commands/users.ts')).listUsers(context)));
  users('remove <email>', 'remove a user from the organization; their keys stop working there').action(
    act(async (context, email: string) => (await import('./commands/users.ts')).removeUser(context, email)),
  );

  const projects = group('projects', 'projects of the bundled API');
  projects('add <name>', 'create a project and print its key').action(
    act(async (context, name: string) => (await import('./commands/projects.ts')).addProject(context, name)),
  );
  projects('list', 'all projects and their keys')
    .alias('ls')
    .action(act(async (context) => (await import('./commands/projects.ts')).listProjects(context)));
  projects('rename <id> <name>', 'give a project another name').action(
    act(async (context, id: string, name: string) =>
      (await import('./commands/projects.ts')).renameProject(context, id, name),
    ),
  );
  projects('rotate-key <id>', 'replace the key of a project, at once, and print the new one').action(
    act(async (context, id: string) =>
      (await import('./commands/projects.ts')).rotateProjectKey(context, id),
    ),
  );

  const flags = group('flags', 'feature flags of the bundled API, and why somebody gets one');
  const ofProject = ['--project <id>', 'the project (default: that of this data folder)'] as const;
  flags('ls', 'all flags, with their share and values')
    .alias('list')
    .option(...ofProject)
    .action(
      act(async (context, options: FlagOptions) =>
        (await import('./commands/flags.ts')).listFlags(context, options),
      ),
    );
  flags('show <key>', 'the definition of a flag')
    .option(...ofProject)
    .action(
      act(async (context, key: string, options: FlagOptions) =>
        (await import('./commands/flags.ts')).showFlag(context, key, options),
      ),
    );
  flags('test <key>', 'what somebody gets of a flag, and why, condition by condition')
    .requiredOption('--distinct-id <id>', 'whom the flag is decided for')
    .option('--group <type=key...>', 'groups they are in, such as company=acme')
    .option('--property <name=value...>', 'properties of theirs that replace stored ones')
    .option(...ofProject)
    .action(
      act(async (context, key: string, options: TestFlagOptions) =>
        (await import('./commands/flags.ts')).testFlag(context, key, options),
      ),
    );
  flags(
    'load <file>',
    'take flags over that the API of another service wrote, and report what cannot be expressed',
  )
    .option('--dry-run', 'report, and keep nothing')
    .option(...ofProject)
    .action(
      act(async (context, file: string, options: FlagOptions & { dryRun?: boolean }) =>
        (await import('./commands/flags.ts')).loadFlags(context, file, options),
      ),
    );

  const database = group('database', 'the database of the bundled API');
  database('move', 'copy the embedded database to an empty PostgreSQL database; interrupted, it continues')
    .option('--to <url>', 'postgres://user:password@host/database (default: DATABASE_URL)')
    .action(
      act(async (context, options: { to?: string }) =>
        (await import('./commands/database.ts')).moveToServer(context, options),
      ),
    );

  const deletions = group('deletions', 'events of persons that were deleted with them');
  deletions('ls', 'what is queued, what was deleted, and what failed')
    .alias('list')
    .option('--state <state>', 'only those that are queued, started, verified or open (not verified)')
    .option('--limit <count>', 'at most so many, newest first', '100')
    .action(
      act(async (context, options: { state?: string; limit: string }) =>
        (await import('./commands/deletions.ts')).listDeletions(context, options),
      ),
    );
  deletions('run', 'delete them now instead of on schedule, and watch until they are deleted').action(
    act(async (context) => (await import('./commands/deletions.ts')).runDeletions(context)),
  );
}
