import { existsSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { readCompose, readText } from '../support/compose.ts';
import { listCommands, parseCommand, toWords } from '../support/parse-command.ts';

const guide = readText('docs/deployment.md').replaceAll(/\\\n\s+/g, '');
const commands = [...guide.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)]
  .flatMap(([, block = '']) => block.split('\n').map((line) => line.trim()))
  .filter(Boolean);
const isSetting = (line: string) => /^[A-Z]\w*=/.test(line);

test('every setting that the guide shows is a line of the example', () => {
  const shown = commands.filter(isSetting);
  expect(shown.length).toBeGreaterThan(5);
  const lines = readText('deploy/example.env').split('\n');
  expect(shown.filter((line) => !lines.includes(`#${line}`))).toEqual([]);
});

describe('every command of the guide exists', () => {
  it.each(commands.filter((line) => !isSetting(line)))('%s', (command) => {
    const words = toWords(command);
    for (const word of words.filter((one) => one.startsWith('deploy/'))) expect(existsSync(word)).toBe(true);
    if (command.startsWith('docker compose run --rm ')) {
      expect(Object.keys(readCompose().services)).toContain(words[4]);
      expect(parseCommand(words.slice(5))).toBe('parsed');
    } else expect(command).toMatch(/^(sh deploy\/|docker compose up |kubectl )/);
  });
});

test('every file that the guide names in backquotes of deploy/kubernetes exists', () => {
  for (const name of ['kustomization.yaml', 'migration.yaml', 'settings.yaml', 'namespace.yaml']) {
    expect(guide).toContain(`\`${name}\``);
    expect(existsSync(`deploy/kubernetes/${name}`)).toBe(true);
  }
});

test('its inline commands exist', () => {
  const inline = [...guide.matchAll(/`backhaul ([^`]+)`/g)].map(([, words = '']) => words);
  expect(listCommands(guide).length).toBeGreaterThan(0);
  for (const words of inline) expect([words, parseCommand(toWords(words))]).toEqual([words, 'parsed']);
});
