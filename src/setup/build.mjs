import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { putStamp, readStamp } from './cache.mjs';
import { run } from './run.mjs';
import { lastLines, SetupError } from './setup-error.mjs';

/** Not every checkout has all of them: an image is built without the benchmarks. */
const SOURCES = ['src', 'jobs', 'config', 'bench'];
const CONFIGURATION = ['tsconfig.json', 'config/tsconfig.build.json', 'package.json'];

/** Looks at sizes and times only, so that it takes some milliseconds. */
export function buildReady(root) {
  return existsSync(join(root, 'dist')) && readStamp(root, 'build') === buildStamp(root);
}

export async function build(root, say) {
  if (buildReady(root)) return;
  say('building (tsc)');
  // Taken first: a source that changes while tsc runs then makes the next run build again.
  const stamp = buildStamp(root);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const args = [tsc, '-p', 'config/tsconfig.build.json'];
  const { code, stdout, stderr } = await run(process.execPath, args, { cwd: root });
  if (code !== 0) {
    throw new SetupError({
      what: `The build failed (tsc, exit code ${code}).`,
      why: lastLines(stdout || stderr, 10),
      mend: 'correct the sources named above; `npm run check` shows everything at once',
    });
  }
  copyAssets(root);
  putStamp(root, 'build', stamp);
}

/** tsc writes code only: what the code reads at run time goes along. */
function copyAssets(root) {
  for (const path of SOURCES.flatMap((folder) => listFiles(root, folder))) {
    if (/\.(ts|mjs)$/.test(path) || CONFIGURATION.includes(path)) continue;
    const target = join(root, 'dist', path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, path), target);
  }
}

function buildStamp(root) {
  const hash = createHash('sha256');
  for (const path of [...CONFIGURATION, ...SOURCES.flatMap((folder) => listFiles(root, folder))]) {
    const { size, mtimeMs } = statSync(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function listFiles(root, folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? listFiles(root, path) : [path];
    });
}
