import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Figures } from './figures.ts';
import { renderMarkdown } from './render.ts';
import { renderSizing } from './render-sizing.ts';

/** Writes the figures of `docs/`. Sections that were not measured keep those that are there. */
export function saveFigures(root: string, fresh: Figures): void {
  const path = join(root, 'docs/benchmark-figures.json');
  const saved = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Figures) : undefined;
  const figures = saved === undefined ? fresh : keepOtherSections(saved, fresh);
  writeFileSync(path, `${JSON.stringify(figures, null, 2)}\n`);
  writeFileSync(join(root, 'docs/benchmark-figures.md'), renderMarkdown(figures));
  writeFileSync(join(root, 'docs/sizing.md'), renderSizing(figures));
}

/** Tables that are kept say which run they are of. */
export function keepOtherSections(saved: Figures, fresh: Figures): Figures {
  const measured = new Set(fresh.tables.map(({ section }) => section));
  const { startedAt, commit } = saved.about;
  const kept = saved.tables
    .filter(({ section }) => !measured.has(section))
    .map((table) => ({ ...table, measured: table.measured ?? `${startedAt}, commit ${commit}` }));
  return { ...fresh, tables: [...fresh.tables, ...kept] };
}
