import { buildProgram } from '../../src/cli/program.ts';

/** Takes the words behind `backhaul` through the real command line, with every action taken out. */
export function parseCommand(words: readonly string[]): string {
  const program = buildProgram(() => {});
  let reached = '';
  const mute = (command: typeof program) => {
    command
      .exitOverride()
      .configureOutput({ writeErr: () => {}, writeOut: () => {} })
      .action(() => {
        reached = 'parsed';
      });
    for (const each of command.commands)
      if (each.commands.length > 0 || each.name() !== 'help') mute(each as typeof program);
  };
  for (const each of program.commands) mute(each as typeof program);
  program.parse(words as string[], { from: 'user' });
  return reached;
}

/** The commands that a page shows in its `sh` blocks, without comments. */
export const listCommands = (page: string): string[] =>
  [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .flatMap(([, block]) => (block ?? '').replaceAll('\\\n', ' ').split('\n'))
    .map((line) => line.replace(/(^|\s+)#.*$/, '').trim())
    .filter(Boolean);

/** The words of a command as a shell divides them, as far as the pages use quotes. */
export const toWords = (command: string): string[] =>
  [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, one, two, bare]) => one ?? two ?? bare ?? '');
