import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';
import { lastLines, SetupError } from './setup-error.mjs';

/**
 * Gets Debian's or Ubuntu's own redis-server with apt, signatures checked, and unpacks it into a folder:
 * root or not, nothing is installed, and no system service comes up. `aptOptions` are further
 * `Name=value` settings of apt.
 */
export async function unpackRedis({ folder, asRoot, aptOptions = [] }) {
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'debs', 'files']) {
    mkdirSync(join(draft, name), { recursive: true });
  }
  try {
    const apt = createApt(draft, asRoot, aptOptions);
    // One unreachable source among several is no reason to stop: the download tells.
    const update = await apt('update');
    const missing = await apt('--simulate', '--no-install-recommends', 'install', 'redis-server');
    const names = new Set(['redis-server', 'redis-tools', ...parseInstalls(missing.stdout)]);
    const download = await apt('download', ...names);
    if (download.code !== 0) throw failure(`${update.stderr}${download.stderr}`);
    for (const file of readdirSync(join(draft, 'debs'))) {
      const unpacked = await run('dpkg-deb', ['-x', join(draft, 'debs', file), join(draft, 'files')]);
      if (unpacked.code !== 0) throw failure(unpacked.stderr);
    }
    const launcher = join(draft, 'files', 'redis-server');
    writeFileSync(launcher, LAUNCHER);
    chmodSync(launcher, 0o755);
    const proof = await run(launcher, ['--version']);
    if (proof.code !== 0) throw failure(proof.stderr || proof.stdout);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(draft, 'files'), folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** `Inst libjemalloc2 (5.3.0-1 Debian:12/stable [amd64])`: what this machine lacks for it. */
export function parseInstalls(simulation) {
  return [...simulation.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
}

/** apt with lists and cache of its own, so that it needs no rights and touches nothing of the system's. */
function createApt(draft, asRoot, aptOptions) {
  const settings = [
    `Dir::State=${join(draft, 'state')}`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${join(draft, 'cache')}`,
    'Debug::NoLocking=1',
    'Acquire::Languages=none',
    'Acquire::Retries=3',
    // Root's apt downloads as the user _apt, who may not write here.
    ...(asRoot ? ['APT::Sandbox::User=root'] : []),
    ...aptOptions,
  ].flatMap((setting) => ['-o', setting]);
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  return (...args) => run('apt-get', [...settings, ...args], { cwd: join(draft, 'debs'), env });
}

/** exec keeps the pid and the death signal that the supervisor gives its Redis. */
const LAUNCHER = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
for folder in "$here"/usr/lib/*-linux-* "$here"/lib/*-linux-* "$here"/usr/lib "$here"/lib; do
  [ -d "$folder" ] && LD_LIBRARY_PATH="$folder\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH
exec "$here/usr/bin/redis-server" "$@"
`;

function failure(said) {
  return new SetupError({
    what: 'redis-server could not be fetched with apt-get.',
    why: lastLines(said),
    mend: 'sudo apt-get update && sudo apt-get install -y --no-install-recommends redis-server',
  });
}
