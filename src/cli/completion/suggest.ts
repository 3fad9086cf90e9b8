import type { Argument, Command, Option } from 'commander';

/** What may stand where the cursor is: words, or names that only the disk or staging knows. */
export interface Suggestions {
  readonly words: readonly Word[];
  readonly also?: 'files' | 'migrations';
}

export interface Word {
  readonly value: string;
  readonly description: string;
}

/**
 * `typed`: the words behind the name of the program; the last one is that of the cursor, and may be empty. What does
 * not start with it is left out by the shell, which knows about quotes.
 */
export function suggest(program: Command, typed: readonly string[]): Suggestions {
  const last = typed.at(-1) ?? '';
  let command = program;
  let given = 0;
  let open: Option | undefined;
  let isPlain = false;
  for (const word of typed.slice(0, -1)) {
    if (open) open = undefined;
    else if (isPlain) given += 1;
    else if (word === '--') isPlain = true;
    else if (word.startsWith('-')) open = takesWord(findOption(program, command, word), word);
    else {
      const sub = findCommand(command, word);
      if (sub) command = sub;
      else given += 1;
    }
  }
  if (open) return suggestValue(open);
  if (!isPlain && last.startsWith('-')) return { words: listOptions(program, command) };
  const argument =
    command.registeredArguments[given] ?? command.registeredArguments.findLast(({ variadic }) => variadic);
  const words = [
    ...(given === 0 && !isPlain ? listCommands(command) : []),
    ...(argument?.argChoices ?? []).map((value) => ({ value, description: '' })),
  ];
  return { words, ...(argument && suggestArgument(program, command, argument)) };
}

const findCommand = (command: Command, word: string) =>
  command.commands.find((one) => one.name() === word || one.aliases().includes(word));

const findOption = (program: Command, command: Command, word: string) =>
  [...command.options, ...program.options].find(({ short, long }) => word === short || word === long);

/** An option with its value in one word, as in `--limit=5`, is complete. */
const takesWord = (option: Option | undefined, word: string) =>
  option && (option.required || option.optional) && !word.includes('=') ? option : undefined;

function suggestValue(option: Option): Suggestions {
  const words = (option.argChoices ?? []).map((value) => ({ value, description: '' }));
  return option.flags.includes('<file>') ? { words, also: 'files' } : { words };
}

function listOptions(program: Command, command: Command): Word[] {
  const all = new Map<string, string>();
  for (const { long, short, description, hidden } of [...command.options, ...program.options])
    if (!hidden) all.set(long ?? short ?? '', description);
  all.set('--help', 'show help for the command');
  return [...all].map(([value, description]) => ({ value, description })).sort(byValue);
}

const listCommands = (command: Command): Word[] => {
  const { commands } = command;
  const words = commands.map((one) => ({ value: one.name(), description: one.description() }));
  return words.length > 0 ? [...words, { value: 'help', description: 'show help for a command' }] : [];
};

const FILES: ReadonlySet<string> = new Set(['manifest', 'data', 'file']);
/** Commands with names of other things than migrations. */
const OTHER_NAMES: ReadonlySet<string> = new Set(['users', 'projects', 'flags', 'keys']);

function suggestArgument(program: Command, command: Command, argument: Argument): Pick<Suggestions, 'also'> {
  const name = argument.name();
  if (FILES.has(name)) return { also: 'files' };
  const group = command.parent === program ? command : command.parent;
  const isMigration = (name === 'name' || name === 'what') && !OTHER_NAMES.has(group?.name() ?? '');
  return isMigration ? { also: 'migrations' } : {};
}

const byValue = (a: Word, b: Word) => (a.value < b.value ? -1 : 1);
