import { describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-code.ts';
import { EXAMPLES, listCommands } from '../../src/cli/help-texts.ts';
import { buildProgram } from '../../src/cli/program.ts';

const program = buildProgram(() => {});
const read = (path: string) => {
  let text = '';
  const own = buildProgram(() => {});
  const found = listCommands(own).find((one) => one.path === path)?.command ?? own;
  found.configureOutput({ writeOut: (more) => (text += more) }).outputHelp();
  return text;
};

it('every command has examples, and there is none of another', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual(
    listCommands(program)
      .map(({ path }) => path)
      .sort(),
  );
});

describe.each(Object.entries(EXAMPLES))('%s', (path, examples) => {
  it.each(examples)('takes: %s', async (example) => {
    expect(example.startsWith(path)).toBe(true);
    const words = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
    const own = buildProgram(() => {});
    let called = false;
    for (const { command } of listCommands(own)) {
      command.exitOverride().configureOutput({ writeErr: () => {} });
      command.action(() => {
        called = true;
      });
    }
    await own.parseAsync(words, { from: 'user' });
    expect(called).toBe(true);
    expect(read(path)).toContain(`backhaul ${example}`);
  });
});

it('the help of the program names every exit code, and fits a terminal', () => {
  const help = read('');
  for (const code of Object.values(EXIT)) expect(help).toMatch(new RegExp(`^  ${code}  `, 'm'));
  for (const line of help.slice(help.indexOf('Exit codes')).split('\n'))
    expect(line.length).toBeLessThan(100);
});
