import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, openBrowser } from '../support/chromium.ts';
import { ALL } from '../support/form.ts';

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');
const BUILD = join(ROOT, 'docs/site/build.mjs');
const out = mkdtempSync(join(tmpdir(), 'backhaul-site-'));
const site = join(out, 'site');
const read = (path: string): string => readFileSync(join(site, path), 'utf8');
const listPages = (): string[] =>
  readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));

beforeAll(() => run(process.execPath, [BUILD, site]));
afterAll(() => rmSync(out, { recursive: true }));

describe('the site that npm run docs writes', () => {
  it('has a page for every page of docs', () => {
    const pages = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => (name === 'README.md' ? 'index.html' : name.replace(/md$/, 'html')));
    expect(listPages()).toEqual(expect.arrayContaining(pages));
  });

  it('works from a folder: all links lead to files and headings in it', () => {
    const broken = listPages().flatMap((page) =>
      [...read(page).matchAll(/ (?:href|src)="([^"]+)"/g)]
        .map(([, link = '']) => link)
        .filter((link) => !/^(https?|data|mailto):/.test(link))
        .filter((link) => {
          const [path = '', anchor] = link.split('#');
          const target = path === '' ? page : relative(site, resolve(site, dirname(page), path));
          try {
            return anchor !== undefined && !read(target).includes(` id="${decodeURI(anchor)}"`);
          } catch {
            return true;
          }
        })
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('shows pictures that exist, and no more than a page may load', () => {
    const shown = listPages().flatMap((page) =>
      [...read(page).matchAll(/<img [^>]*>/g)].map(([image]) => {
        const src = / src="([^"]+)"/.exec(image)?.[1] ?? '';
        expect(image, page).toMatch(/ alt="[^"]{20,}"/);
        return relative(site, resolve(site, dirname(page), src));
      }),
    );
    const images = readdirSync(join(ROOT, 'docs/images')).map((name) => `images/${name}`);
    expect(new Set(shown.filter((path) => path.endsWith('.png')))).toEqual(new Set(images));
    expect(images.reduce((sum, path) => sum + statSync(join(site, path)).size, 0)).toBeLessThan(400_000);
  });

  it.runIf(ALL && CHROMIUM !== undefined)('is searched in a browser, and a hit followed', async () => {
    const page = await openBrowser();
    try {
      await page.open(pathToFileURL(join(site, 'index.html')).href);
      await page.click('form[role=search] input');
      await page.type('take-back');
      await page.waitFor(`document.querySelectorAll('#results li').length > 0`);
      const hits = await page.evaluate<string[]>(
        `[...document.querySelectorAll('#results a')].map((link) => link.textContent)`,
      );
      expect(hits).toContain('Move a migration to another machine: Bring it back');
      await page.type(' nosuchword');
      await page.waitFor(`document.querySelector('#results').textContent.startsWith('Nothing holds all of')`);
      await page.evaluate(`document.querySelector('form[role=search] input').value = ''`);
      await page.type('bring it back');
      await page.waitFor(`document.querySelector('#results a')?.textContent.endsWith('Bring it back')`);
      await page.press('Enter');
      await page.waitFor(`location.pathname.endsWith('/move.html') && location.hash === '#bring-it-back'`);
      // The address is there before the document is.
      await page.waitFor(`document.querySelector('#bring-it-back')?.textContent === 'Bring it back'`);
      expect(page.errors).toEqual([]);
    } finally {
      await page.close();
    }
  });

  it('asks no other host for anything', () => {
    for (const page of listPages())
      expect(read(page)).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?\/\//);
    expect(read('site.css')).not.toMatch(/@import|url\(/);
    expect(read('site.js')).not.toMatch(/https?:|fetch\(|XMLHttpRequest/);
  });

  it('can be searched by sections, whose addresses exist', () => {
    const text = read('search-index.js');
    const index = JSON.parse(text.slice(text.indexOf('['), text.lastIndexOf(']') + 1)) as [
      page: string,
      title: string,
      slug: string,
      heading: string,
      body: string,
    ][];
    expect(index.length).toBeGreaterThan(100);
    for (const [page, , slug] of index) expect(read(page)).toContain(` id="${slug}"`);
    const found = index.filter(([, , , , body]) => body.includes('does not accept the project API key'));
    expect(found.map(([page, , slug]) => `${page}#${slug}`)).toContain('runbook.html#paused');
  });

  it('has colours of enough contrast, light and dark', () => {
    const schemes = [...read('site.css').matchAll(/:root \{([^}]+)\}/g)].map(([, block = '']) =>
      Object.fromEntries(
        [...block.matchAll(/--(\w+): (#[0-9a-f]+)/g)].map(([, name, value]) => [name, value]),
      ),
    );
    expect(schemes).toHaveLength(2);
    for (const { page, raised, text, quiet, link } of schemes)
      for (const ground of [page, raised])
        for (const ink of [text, quiet, link])
          expect(getContrast(String(ground), String(ink))).toBeGreaterThan(4.5);
  });

  it('replaces its own folder, and no other', async () => {
    await run(process.execPath, [BUILD, site]);
    const other = mkdtempSync(join(out, 'other-'));
    writeFileSync(join(other, 'mine.txt'), '');
    await expect(run(process.execPath, [BUILD, other])).rejects.toThrow('holds something else');
    expect(readdirSync(other)).toEqual(['mine.txt']);
  });
});

/** https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function getContrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [getLuminance(one), getLuminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function getLuminance(color: string): number {
  const digits = color.length === 4 ? color.replace(/[0-9a-f]/g, '$&$&') : color;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(digits.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
