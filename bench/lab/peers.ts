import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProjectRoot } from '../../src/embedded/project-root.ts';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 180_000;

export interface Peers {
  /** Where they are installed; undefined when they could not be. */
  readonly folder: string | undefined;
  /** `posthog-node 5.70.0`, …; or why they are missing. */
  readonly note: string;
}

/**
 * Installs the packages of `bench/peers/package.json` into the checkout's cache, once for each set of versions.
 * Without a registry they are left out, and the rest of the benchmark runs.
 */
export async function installPeers(log: (line: string) => void): Promise<Peers> {
  const root = findProjectRoot();
  const manifest = join(root, 'bench/peers/package.json');
  const versions = Object.entries(
    (JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies: Record<string, string> }).dependencies,
  );
  const note = versions.map(([name, version]) => `${name} ${version}`).join(', ');
  const folder = join(
    root,
    'node_modules/.cache/backhaul/bench-peers',
    versions.map(([name, version]) => `${name}-${version}`).join('_'),
  );
  if (versions.every(([name, version]) => readVersion(folder, name) === version)) return { folder, note };
  log(`installing ${note} into ${folder}`);
  mkdirSync(folder, { recursive: true });
  copyFileSync(manifest, join(folder, 'package.json'));
  try {
    const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];
    await run('npm', args, { cwd: folder, timeout: INSTALL_TIMEOUT_MS });
    return { folder, note };
  } catch (error) {
    const reason = (error instanceof Error ? error.message : String(error)).split('\n').slice(0, 4).join(' ');
    return {
      folder: undefined,
      note: `${note} could not be installed, so they are missing here, and every ratio to the documented script with them (${reason})`,
    };
  }
}

function readVersion(folder: string, name: string): string | undefined {
  const path = join(folder, 'node_modules', name, 'package.json');
  if (!existsSync(path)) return undefined;
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
