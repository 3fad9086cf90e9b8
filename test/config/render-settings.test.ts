import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { loadSettings } from '../../config/load-settings.ts';
import { renderExampleEnv, renderSettingsTable } from '../../config/render-settings.ts';
import { listSettingFields } from '../../config/settings.ts';

const EXAMPLE = new URL('../../config/example.env', import.meta.url);

test('config/example.env is what the schema makes of it (UPDATE_GOLDEN=1 rewrites it)', async () => {
  if (process.env['UPDATE_GOLDEN']) await writeFile(EXAMPLE, renderExampleEnv());
  expect(await readFile(EXAMPLE, 'utf8')).toBe(renderExampleEnv());
});

test('the defaults that example.env shows are those that are used', () => {
  const shown = [...renderExampleEnv().matchAll(/^#([A-Z_]+)=(.+)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(shown.length).toBeGreaterThan(4);
  expect(loadSettings(Object.fromEntries(shown))).toEqual(loadSettings({}));
});

test('the table has a described line for every setting', () => {
  const lines = renderSettingsTable().trimEnd().split('\n').slice(2);
  expect(lines).toHaveLength(listSettingFields().length);
  for (const line of lines) expect(line).toMatch(/^\| `[A-Z0-9_]+`.* \| \S.* \| \S.* \|$/);
  expect(renderSettingsTable()).toContain('| `DATABASE_URL` (or `DATABASE_URL_FILE`) | unset |');
});
