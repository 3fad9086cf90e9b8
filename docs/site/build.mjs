/**
 * Builds the pages of docs/ as a folder that any server, or a browser by itself, can show:
 * `npm run docs` writes `site/`, `npm run docs -- <folder>` another one. Nothing is fetched, when it is built or read.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import MarkdownIt from 'markdown-it';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = resolve(HERE, '../..');
/** Marks a folder as ours, which may be replaced. */
const MARK = '.backhaul-docs';

/** Writes all pages, and returns how many there are. */
export function buildSite(out) {
  if (existsSync(out) && readdirSync(out).length > 0 && !existsSync(join(out, MARK)))
    throw new Error(`${out} holds something else; name an empty folder`);
  const { pages, files } = collect();
  const index = [];
  rmSync(out, { recursive: true, force: true });
  const write = (path, text) => {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), text);
  };
  const groups = readGroups(pages.get('docs/README.md'));
  for (const [path, text] of pages) {
    const page = renderPage(path, text, pages, files);
    write(toTarget(path), wrapPage(path, page, groups));
    index.push(...page.sections.map((section) => [toTarget(path), page.title, ...section]));
  }
  for (const path of files) {
    mkdirSync(dirname(join(out, toTarget(path))), { recursive: true });
    cpSync(join(ROOT, path), join(out, toTarget(path)));
  }
  for (const name of ['site.css', 'site.js']) cpSync(join(HERE, name), join(out, name));
  // A script and no JSON, as a page that was opened as a file may not fetch.
  write('search-index.js', `globalThis.searchIndex = ${JSON.stringify(index)};\n`);
  write(MARK, 'Written by npm run docs, which replaces this folder.\n');
  return pages.size;
}

/** The pages of docs, and pages and files elsewhere that they lead to. */
function collect() {
  const pages = new Map();
  const files = new Set();
  const queue = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => posix.join('docs', name));
  for (const path of queue) {
    if (pages.has(path)) continue;
    const text = readFileSync(join(ROOT, path), 'utf8');
    pages.set(path, text);
    for (const { target } of listTargets(path, text)) {
      if (!existsSync(join(ROOT, target)) || statSync(join(ROOT, target)).isDirectory()) continue;
      if (target.endsWith('.md')) queue.push(target);
      else files.add(target);
    }
  }
  return { pages, files };
}

function* listTargets(path, text) {
  for (const token of new MarkdownIt().parse(text, {}))
    for (const child of token.children ?? []) {
      const href = child.attrGet('href') ?? child.attrGet('src');
      const target = href === null ? undefined : toPath(path, href);
      if (target !== undefined) yield { target };
    }
}

/** The file of the repository that a link leads to; undefined for an address, or a heading of the page itself. */
function toPath(path, href) {
  if (/^[a-z]+:/i.test(href) || href.startsWith('#')) return undefined;
  return posix.normalize(posix.join(posix.dirname(path), decodeURI(href.split('#')[0] ?? '')));
}

/** Where a file of the repository is in the site. */
function toTarget(path) {
  if (path === 'docs/README.md') return 'index.html';
  const inSite = path.startsWith('docs/') ? path.slice('docs/'.length) : posix.join('project', path);
  return inSite.replace(/\.md$/, '.html');
}

const toHref = (from, to) => posix.relative(posix.dirname(toTarget(from)), toTarget(to));

/** HTML of a page, its title, and its text by section. */
function renderPage(path, text, pages, files) {
  const md = new MarkdownIt({ html: false, linkify: false });
  const tokens = md.parse(text, {});
  const sections = [];
  const taken = new Map();
  let title = '';
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') {
      const name = toText(tokens[at + 1]);
      const slug = toSlug(name, taken);
      token.attrSet('id', slug);
      title ||= name;
      sections.push([slug, name, []]);
    } else if (token.type === 'inline' || token.type === 'fence') {
      if (tokens[at - 1]?.type !== 'heading_open') sections.at(-1)?.[2].push(toText(token));
    }
    for (const child of token.children ?? []) relink(child, path, pages, files);
  });
  const html = md.renderer
    .render(tokens, md.options, {})
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>')
    .replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">');
  return { title, html, sections: sections.map(([slug, name, texts]) => [slug, name, texts.join(' ')]) };
}

function relink(token, path, pages, files) {
  for (const name of ['href', 'src']) {
    const href = token.attrGet(name);
    const target = href === null ? undefined : toPath(path, href);
    if (target === undefined) continue;
    const anchor = href.includes('#') ? href.slice(href.indexOf('#')) : '';
    if (pages.has(target) || files.has(target)) token.attrSet(name, `${toHref(path, target)}${anchor}`);
    // A folder of the repository is nowhere in the site.
    else token.attrs = [['class', 'elsewhere']];
  }
}

/** Words of a token, without marks; long tables and blocks of code are searched as well. */
function toText(token) {
  if (token === undefined) return '';
  if (token.children === null || token.children.length === 0) return token.content;
  return token.children
    .map((child) => (child.type === 'softbreak' ? ' ' : child.content))
    .join('')
    .trim();
}

/** The anchor of a heading, as GitHub makes it. */
function toSlug(heading, taken) {
  const slug = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
  const count = taken.get(slug) ?? 0;
  taken.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

/** The menu is the list of pages of docs/README.md: a bold line begins a group. */
function readGroups(text) {
  const groups = [{ name: 'Guide', pages: [] }];
  for (const line of text.split('\n')) {
    const name = /^\*\*(.+)\*\*$/.exec(line)?.[1];
    if (name !== undefined) groups.push({ name, pages: [] });
    for (const [, label, href] of line.startsWith('| [') ? line.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g) : [])
      groups.at(-1).pages.push({ label, path: toPath('docs/README.md', href) });
  }
  return groups;
}

const escapeHtml = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function wrapPage(path, { title, html, sections }, groups) {
  const up = posix.relative(posix.dirname(toTarget(path)), '.') || '.';
  const menu = groups
    .map(
      ({ name, pages }) =>
        `<h2>${escapeHtml(name)}</h2><ul>${pages
          .map(
            (page) =>
              `<li><a href="${toHref(path, page.path)}"${page.path === path ? ' aria-current="page"' : ''}>${escapeHtml(page.label)}</a></li>`,
          )
          .join('')}</ul>`,
    )
    .join('\n');
  const inner = sections.slice(1);
  const contents =
    inner.length < 3
      ? ''
      : `<details class="contents"><summary>On this page</summary><ul>${inner
          .map(([slug, name]) => `<li><a href="#${slug}">${escapeHtml(name)}</a></li>`)
          .join('')}</ul></details>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Backhaul</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}/site.css">
</head>
<body data-root="${up}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${up}/index.html">Backhaul</a>
<form role="search" hidden><label for="search">Search</label><input id="search" type="search" placeholder="Search, or press /" autocomplete="off" aria-controls="results"></form>
</header>
<div id="results" role="region" aria-label="Results" aria-live="polite" hidden></div>
<div class="columns">
<details class="menu" open><summary>All pages</summary><nav aria-label="Pages">
${menu}
</nav></details>
<main id="content">
${html.replace('</h1>', `</h1>\n${contents}`)}
</main>
</div>
<script src="${up}/search-index.js" defer></script>
<script src="${up}/site.js" defer></script>
</body>
</html>
`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const out = resolve(process.argv[2] ?? join(ROOT, 'site'));
  const pages = buildSite(out);
  process.stdout.write(`${pages} pages: open ${join(out, 'index.html')}\n`);
}
