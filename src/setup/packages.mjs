import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getCheckoutCache, readStamp, writeStamp } from './cache.mjs';
import { run } from './run.mjs';
import { lastLines, SetupError } from './setup-error.mjs';

export function arePackagesReady(root) {
  const stamp = readStamp(getCheckoutCache(root), 'packages');
  return existsSync(join(root, 'node_modules')) && stamp === computeStamp(root);
}

export async function installPackages(root, log) {
  if (arePackagesReady(root)) return;
  log('installing packages (npm install)');
  // `--no-save` follows the lock file and never writes it. `npm ci` would also remove node_modules/.cache,
  // where this set-up keeps its lock and its Redis. The compiler is among the development packages, which
  // NODE_ENV=production would omit.
  const args = ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund'];
  const { code, stdout, stderr } = await run('npm', args, { cwd: root });
  if (code === -1) {
    throw new SetupError({
      what: 'npm was not found.',
      why: 'Backhaul installs its packages with npm.',
      fix: 'install Node.js with npm: https://nodejs.org/en/download',
    });
  }
  if (code !== 0) {
    throw new SetupError({
      what: `npm install failed (exit code ${code}).`,
      why: lastLines(stderr || stdout, 8),
      fix: `cd ${root} && npm install`,
    });
  }
  writeStamp(getCheckoutCache(root), 'packages', computeStamp(root));
}

/** Packages with compiled parts fit one platform: a folder copied from another machine is installed again. */
function computeStamp(root) {
  const hash = createHash('sha256');
  for (const name of ['package.json', 'package-lock.json']) {
    const path = join(root, name);
    if (existsSync(path)) hash.update(readFileSync(path));
  }
  return `${hash.digest('hex')} ${process.platform}-${process.arch}`;
}
