import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Figures } from '../../bench/figures.ts';
import { renderSizing } from '../../bench/render-sizing.ts';
import { renderManifestReference } from '../../config/render-manifest-reference.ts';
import { renderSettingsReference } from '../../config/render-settings.ts';

const figures: Figures = JSON.parse(
  readFileSync(new URL('../../docs/benchmark-figures.json', import.meta.url), 'utf8'),
);

const PAGES = [
  ['reference/manifest.md', renderManifestReference],
  ['reference/settings.md', renderSettingsReference],
  ['sizing.md', () => renderSizing(figures)],
] as const;

test.each(PAGES)(
  'docs/%s is what schemas and figures make of it (UPDATE_GOLDEN=1 rewrites it)',
  async (name, render) => {
    const page = new URL(`../../docs/${name}`, import.meta.url);
    if (process.env['UPDATE_GOLDEN']) await writeFile(page, render());
    expect(await readFile(page, 'utf8')).toBe(render());
  },
);

test('every key of a manifest has a description', () => {
  const rows = renderManifestReference()
    .split('\n')
    .filter((line) => line.startsWith('| `'));
  expect(rows.length).toBeGreaterThan(60);
  expect(rows.filter((row) => /\| {1,2}\|$/.test(row))).toEqual([]);
});
