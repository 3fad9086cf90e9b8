import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';

const ROOT = new URL('../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');
const manifest = z
  .object({ scripts: z.record(z.string(), z.string()), engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(read('package.json')));
const listScripts = (text: string) => [...text.matchAll(/\bnpm run ([\w:]+)/g)].map(([, name]) => name ?? '');

test('the CI workflow runs scripts that exist, from the oldest supported Node.js on', () => {
  const step = z.object({ run: z.string().optional(), uses: z.string().optional() });
  const job = z.object({
    'timeout-minutes': z.number(),
    strategy: z.object({ matrix: z.object({ node: z.array(z.number()) }) }).optional(),
    steps: z.array(step),
  });
  const text = read('.github/workflows/ci.yml');
  const { permissions, jobs } = z
    .object({ permissions: z.object({ contents: z.literal('read') }), jobs: z.record(z.string(), job) })
    .parse(parse(text));
  expect(permissions).toEqual({ contents: 'read' });
  expect(jobs['check']?.strategy?.matrix.node).toEqual([20, 22, 24]);
  expect(manifest.engines.node).toMatch(/^>=20\./);
  const scripts = listScripts(text);
  expect(scripts).toContain('check');
  expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(scripts));
});

test.each(['bug', 'feature'])('the template for a %s has a label and asks what is needed', (name) => {
  const field = z.object({ type: z.string(), validations: z.object({ required: z.boolean() }).optional() });
  const template = z
    .object({ name: z.string(), description: z.string(), labels: z.array(z.string()), body: z.array(field) })
    .parse(parse(read(`.github/ISSUE_TEMPLATE/${name}.yml`)));
  expect(template.labels).toHaveLength(1);
  expect(template.body.some(({ validations }) => validations?.required)).toBe(true);
});

test('the changelog has the form of Keep a Changelog', () => {
  const text = read('CHANGELOG.md');
  const headings = [...text.matchAll(/^(#{1,3}) (.+)$/gm)].map(([, level = '', title = '']) => ({
    level,
    title,
  }));
  expect(headings[0]).toEqual({ level: '#', title: 'Changelog' });
  expect(headings[1]).toEqual({ level: '##', title: '[Unreleased]' });
  for (const { level, title } of headings.slice(1)) {
    if (level === '##') expect(title).toMatch(/^\[(Unreleased|\d+\.\d+\.\d+)\]( - \d{4}-\d\d-\d\d)?$/);
    else expect(title).toMatch(/^(Added|Changed|Deprecated|Removed|Fixed|Security)$/);
  }
});

test.each(['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', '.github/PULL_REQUEST_TEMPLATE.md'])(
  '%s names scripts, files and links that exist',
  (file) => {
    const text = read(file);
    expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(listScripts(text)));
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path]) => path ?? '');
    const paths = [...text.matchAll(/`((?:src|test|config|jobs)\/[\w./-]+)`/g)].map(([, path]) => path ?? '');
    for (const path of [...links, ...paths]) expect(existsSync(new URL(path, ROOT)), path).toBe(true);
  },
);
