import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundle } from './bundle.mjs';
import { getCheckoutCache, readStamp, writeStamp } from './cache.mjs';
import { run } from './run.mjs';
import { lastLines, SetupError } from './setup-error.mjs';

/** Not every checkout has all of them: an image is built without the benchmarks. */
const SOURCES = ['src', 'jobs', 'config', 'bench'];
/** Read by the build itself. */
const CONFIGURATION = ['tsconfig.json', 'config/tsconfig.build.json', 'package.json'];
/** Read by tools that work on a checkout. */
const TOOL_FILES = [
  'config/format.json',
  'config/knip.json',
  'config/oxlint.json',
  'config/vitest.config.ts',
];

/** Reads sizes and times only, so that it takes a few milliseconds. */
export function isBuildReady(root) {
  return existsSync(join(root, 'dist')) && readStamp(getCheckoutCache(root), 'build') === computeStamp(root);
}

export async function build(root, log) {
  if (isBuildReady(root)) return;
  log('building (tsc)');
  // Computed first: a source that changes while tsc runs causes another build at the next start.
  const stamp = computeStamp(root);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', 'config/tsconfig.build.json'];
  const { code, stdout, stderr } = await run(process.execPath, args, { cwd: root });
  if (code !== 0) {
    throw new SetupError({
      what: `The build failed (tsc, exit code ${code}).`,
      why: lastLines(stdout || stderr, 10),
      fix: 'correct the sources named above; `npm run check` reports every error',
    });
  }
  const sources = SOURCES.flatMap((folder) => listFiles(root, folder));
  copyAssets(root, sources);
  removeStale(root, sources);
  await bundle(root);
  writeStamp(getCheckoutCache(root), 'build', stamp);
}

/** tsc writes code only; other files that the code reads at run time are copied. */
function copyAssets(root, sources) {
  for (const path of sources.filter(isAsset)) {
    const target = join(root, 'dist', path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
  }
}

const isAsset = (path) => !/\.(ts|mjs)$/.test(path) && ![...CONFIGURATION, ...TOOL_FILES].includes(path);

/** tsc never removes what it wrote for a source that has since been moved or deleted. */
function removeStale(root, sources) {
  const current = new Set(
    sources
      .filter((path) => !TOOL_FILES.includes(path))
      .flatMap((path) => {
        if (isAsset(path)) return [path];
        const script = path.replace(/\.ts$/, '.js');
        return [script, `${script}.map`];
      }),
  );
  const built = SOURCES.flatMap((folder) => listFiles(join(root, 'dist'), folder));
  for (const path of built.filter((path) => !current.has(path))) rmSync(join(root, 'dist', path));
}

function computeStamp(root) {
  const hash = createHash('sha256');
  for (const path of [...CONFIGURATION, ...SOURCES.flatMap((folder) => listFiles(root, folder))]) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Paths relative to `root`, with slashes, in a fixed order. */
function listFiles(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? listFiles(root, path) : [path];
    });
}
