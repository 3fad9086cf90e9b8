import { existsSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parseManifest } from '../../config/manifest/load-manifest.ts';
import { listSettingFields } from '../../config/settings.ts';
import { readCompose, readText } from '../support/compose.ts';
import {
  getBackhaul,
  getExported,
  isInstall,
  isSetting,
  listGuideCommands,
  NOT_RUN,
} from '../support/guide-commands.ts';
import { listCommands, parseCommand, toWords } from '../support/parse-command.ts';

const guide = readText('docs/deployment.md').replaceAll(/\\\n\s+/g, '');
const commands = listGuideCommands();

test('every setting that the guide shows is a line of the example', () => {
  const shown = commands.filter(isSetting);
  expect(shown.length).toBeGreaterThan(5);
  const lines = readText('deploy/example.env').split('\n');
  expect(shown.filter((line) => !lines.includes(`#${line}`))).toEqual([]);
});

test('every variable that the guide exports is a setting', () => {
  const exported = commands.flatMap((line) => getExported(line) ?? []);
  expect(exported.length).toBeGreaterThan(2);
  const known = listSettingFields().map(({ env }) => env);
  expect(exported.filter((name) => !known.includes(name))).toEqual([]);
});

test('every manifest of the guide is one', () => {
  const manifests = [...guide.matchAll(/^```yaml\n(name:[\s\S]*?)^```/gm)].map(([, text = '']) => text);
  expect(manifests.length).toBeGreaterThan(0);
  for (const text of manifests)
    expect(parseManifest(text, 'docs/deployment.md', { env: {} }).manifest.schedule).toBeDefined();
});

describe('every command of the guide exists', () => {
  it.each(commands.filter((line) => !isSetting(line) && !getExported(line)))('%s', (command) => {
    const words = toWords(command);
    for (const word of words.filter((one) => one.startsWith('deploy/'))) expect(existsSync(word)).toBe(true);
    if (command.startsWith('docker compose run --rm ')) {
      expect(Object.keys(readCompose().services)).toContain(words[4]);
      expect(parseCommand(words.slice(5))).toBe('parsed');
    } else if (getBackhaul(command)) {
      expect(parseCommand(toWords(getBackhaul(command) ?? ''))).toBe('parsed');
    } else expect(command).toMatch(/^(sh deploy\/|docker compose up |kubectl |npm pack$|sudo )/);
  });
});

// test/services/guide.test.ts and test/services/guide-server.test.ts run the others.
test('nothing but what needs Docker, a cluster or root is left to be run', () => {
  const others = commands.filter(
    (line) => ![isSetting, getExported, getBackhaul, isInstall].some((runs) => runs(line)),
  );
  expect(others).toHaveLength(NOT_RUN.length);
  for (const [at, line] of others.entries()) expect(line.startsWith(NOT_RUN[at] ?? '?')).toBe(true);
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
