import { type Command, Option } from 'commander';
import type { Act } from './manage-commands.ts';

/** `state`: migrations that move to another machine. `version` is that of Backhaul. */
export function addStateCommands(program: Command, act: Act, version: string): void {
  const parent = program.command('state').description('move migrations to another machine, and back');
  const state = (usage: string, help: string) =>
    parent.command(usage).description(help).addOption(new Option('--json').hideHelp());
  const commands = () => import('./commands/state/move.ts');

  state('export <name...>', 'write all that migrations to one project are into a file; they run here no more')
    .requiredOption('--to <file>', 'the file, a gzipped tar')
    .action(
      act(async (context, names: string[], { to }: { to: string }) =>
        (await commands()).exportTo(context, names, { to, version }),
      ),
    );
  state('import <file>', 'take the migrations of an export in, to be resumed here').action(
    act(async (context, file: string) => (await commands()).importFrom(context, file)),
  );
  state('take-back <name>', 'undo an export whose file was imported nowhere').action(
    act(async (context, name: string) => (await commands()).takeBackMoved(context, name)),
  );
}
