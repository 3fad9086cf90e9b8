import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadManifest } from '../../config/manifest/load-manifest.ts';
import { bindSource, SOURCE_TYPES } from '../../src/sources/registry.ts';
import { listCommands, parseCommand, toWords } from '../support/parse-command.ts';
import { listAnchors, listLinks, stripCode } from './markdown.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** Programs of others that a page may show. */
const FOREIGN = new Set(['aws', 'cd', 'cp', 'curl', 'export', 'mkdir', 'docker', 'kubectl', 'git']);
/** Its commands have a test of their own, or run for hours. */
const OTHERS = new Set(['docs/deployment.md', 'docs/benchmark.md']);

const HASH_KEY = 'sixteen characters at least';

const readPage = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name))
  .sort();
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'ARCHITECTURE.md', ...docs];

describe('every link leads to a file and a heading that exist', () => {
  it.each(pages)('%s', (path) => {
    const broken = listLinks(readPage(path)).filter((link) => {
      if (/^[a-z]+:/.test(link)) return false;
      const [target = '', anchor] = link.split('#');
      const file = target === '' ? path : relative(ROOT, resolve(ROOT, dirname(path), target));
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !listAnchors(readPage(file)).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

describe('every command exists, with its options', () => {
  const shown = docs
    .filter((path) => !OTHERS.has(path))
    .flatMap((path) => listCommands(readPage(path)).map((command) => [path, command] as const));
  const inline = docs
    .filter((path) => !OTHERS.has(path))
    .flatMap((path) =>
      [...readPage(path).matchAll(/`((?:npx )?backhaul [^`]+)`/g)].map(
        ([, command = '']) => [path, command] as const,
      ),
    );

  it('is shown', () => expect(shown.length).toBeGreaterThan(30));

  it.each(shown)('%s: %s', (_, command) => {
    const words = toWords(command);
    const [program = '', first, second] = words;
    if (FOREIGN.has(program)) return;
    if (program === 'npm') {
      expect(Object.keys(scripts)).toContain(first === 'run' ? second : first);
      return;
    }
    expect([program, first]).toEqual(['npx', 'backhaul']);
    expect(parseCommand(words.slice(2))).toBe('parsed');
  });

  it.each(inline)('%s: %s', (_, command) => {
    const words = toWords(command.replace(/^npx /, '').replaceAll('…', ''));
    expect(parseCommand(words.slice(1))).toBe('parsed');
  });
});

describe('every manifest loads, and its source can be read', () => {
  const manifests = ['README.md', ...docs].flatMap((path) =>
    [...readPage(path).matchAll(/^```yaml\n([\s\S]*?)^```/gm)]
      .map(([, text = '']) => text)
      .filter((text) => /^name:/m.test(text) && /^source:/m.test(text))
      .map((text) => [path, /^name: *(\S+)/m.exec(text)?.[1] ?? '', text] as const),
  );

  it.each(manifests)('%s: %s', async (_path, _name, text) => {
    const { manifest } = await load(text);
    expect(bindSource(manifest.source).createMap({ hashKey: HASH_KEY })({})).toHaveProperty('kind');
  });

  it.each(SOURCE_TYPES.map(({ type }) => type))('there is a page about %s, with a manifest', async (type) => {
    const own = manifests.filter(([path]) => path === `docs/vendors/${type}.md`);
    const types = await Promise.all(own.map(async ([, , text]) => (await load(text)).manifest.source.type));
    expect(types).toContain(type);
  });
});

it('every page of docs is in the list of pages', () => {
  const linked = listLinks(readPage('docs/README.md')).map((link) => join('docs', link.split('#')[0] ?? ''));
  const listed = new Set([...linked, ...OTHERS, 'docs/README.md']);
  expect(docs.filter((path) => !listed.has(path))).toEqual([]);
});

it('no page has a word of HTML', () => {
  expect(
    docs.filter((path) => /<[a-z]+[ >]/i.test(stripCode(readPage(path)).replace(/<https?:/g, ''))),
  ).toEqual([]);
});

async function load(text: string) {
  const folder = await mkdtemp(join(tmpdir(), 'backhaul-docs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'migration.yaml');
  await writeFile(path, text);
  return loadManifest(path, {
    env: { BACKHAUL_PROJECT_API_KEY: 'phc_x', BACKHAUL_HASH_KEY: HASH_KEY },
  });
}
