import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderSettingsTable } from '../config/render-settings.ts';
import { buildProgram } from '../src/cli/program.ts';
import { renderSourcesTable } from '../src/sources/render-sources-table.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const commands = [...readme.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
  .flatMap(([, block]) => (block ?? '').split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter(Boolean);

describe('the README', () => {
  it('shows commands', () => {
    expect(commands.length).toBeGreaterThan(10);
  });

  it.each(commands)('shows a command that exists: %s', (command) => {
    const [program, first, second] = command.split(' ');
    if (program === 'npm') {
      expect(Object.keys(scripts)).toContain(first === 'run' ? second : first);
      return;
    }
    expect([program, first]).toEqual(['npx', 'backhaul']);
    expect(parse(command.split(' ').slice(2))).toBe('parsed');
  });

  it('has the table of settings that the schema makes', () => {
    expect(readme).toContain(renderSettingsTable().trim());
  });

  it('has the table of sources that the registry makes', () => {
    expect(readme).toContain(renderSourcesTable());
  });
});

/** Takes the words through the real command line, with every action taken out. */
function parse(words: readonly string[]): string {
  const program = buildProgram(() => {});
  let reached = '';
  const mute = (command: typeof program) => {
    command.exitOverride().action(() => {
      reached = 'parsed';
    });
    for (const each of command.commands)
      if (each.commands.length > 0 || each.name() !== 'help') mute(each as typeof program);
  };
  for (const each of program.commands) mute(each as typeof program);
  program.parse(words as string[], { from: 'user' });
  return reached;
}
