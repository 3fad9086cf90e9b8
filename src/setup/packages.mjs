import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { putStamp, readStamp } from './cache.mjs';
import { run } from './run.mjs';
import { lastLines, SetupError } from './setup-error.mjs';

export function packagesReady(root) {
  return existsSync(join(root, 'node_modules')) && readStamp(root, 'packages') === packagesStamp(root);
}

export async function installPackages(root, say) {
  if (packagesReady(root)) return;
  say('installing packages (npm install)');
  // The compiler is among the development packages, which NODE_ENV=production would leave out. No lock
  // file: one written on one platform lacks the optional packages of the others.
  const args = ['install', '--include=dev', '--no-package-lock', '--no-audit', '--no-fund'];
  const { code, stdout, stderr } = await run('npm', args, { cwd: root });
  if (code === -1) {
    throw new SetupError({
      what: 'npm is missing.',
      why: 'Backhaul gets its packages with it.',
      mend: 'install Node.js with npm: https://nodejs.org/en/download',
    });
  }
  if (code !== 0) {
    throw new SetupError({
      what: `npm install failed (exit code ${code}).`,
      why: lastLines(stderr || stdout, 8),
      mend: `cd ${root} && npm install`,
    });
  }
  putStamp(root, 'packages', packagesStamp(root));
}

/** Packages with compiled parts serve one platform; a folder copied from another machine is no use. */
function packagesStamp(root) {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package.json')));
  return `${hash.digest('hex')} ${process.platform}-${process.arch}`;
}
