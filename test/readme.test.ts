import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderSettingsTable } from '../config/render-settings.ts';
import { renderSourcesTable } from '../src/sources/render-sources-table.ts';
import { listCommands, parseCommand, toWords } from './support/parse-command.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const commands = listCommands(readme);

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
    expect(parseCommand(toWords(command).slice(2))).toBe('parsed');
  });

  it('has the table of settings that the schema makes', () => {
    expect(readme).toContain(renderSettingsTable().trim());
  });

  it('has the table of sources that the registry makes', () => {
    expect(readme).toContain(renderSourcesTable());
  });
});
