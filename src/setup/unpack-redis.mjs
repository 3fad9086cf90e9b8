import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';
import { lastLines, SetupError } from './setup-error.mjs';

/**
 * Downloads Debian's or Ubuntu's own redis-server with apt, which checks its signature, and unpacks it into
 * `folder`. Nothing is installed and no system service starts, whether this runs as root or not.
 * `aptOptions` are further `Name=value` settings of apt.
 */
export async function unpackRedis({ folder, asRoot, aptOptions = [] }) {
  const draft = `${folder}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  for (const name of ['state/lists/partial', 'cache/archives/partial', 'debs', 'files']) {
    mkdirSync(join(draft, name), { recursive: true });
  }
  try {
    const apt = createApt(draft, asRoot, aptOptions);
    // Its exit code is ignored: one unreachable source among several need not concern this download.
    const update = await apt('update');
    const simulation = await apt('--simulate', '--no-install-recommends', 'install', 'redis-server');
    const names = new Set(['redis-server', 'redis-tools', ...parseInstalls(simulation.stdout)]);
    const download = await apt('download', ...names);
    if (download.code !== 0) throw createError(`${update.stderr}${download.stderr}`);
    for (const file of readdirSync(join(draft, 'debs'))) {
      const unpacked = await run('dpkg-deb', ['-x', join(draft, 'debs', file), join(draft, 'files')]);
      if (unpacked.code !== 0) throw createError(unpacked.stderr);
    }
    const launcher = join(draft, 'files', 'redis-server');
    writeFileSync(launcher, LAUNCHER);
    chmodSync(launcher, 0o755);
    const trial = await run(launcher, ['--version']);
    if (trial.code !== 0) throw createError(trial.stderr || trial.stdout);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(draft, 'files'), folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Names of the packages that apt would install, from lines such as `Inst libjemalloc2 (5.3.0-1 …)`. */
export function parseInstalls(simulation) {
  return [...simulation.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name);
}

/** apt with its own lists and cache, so that it needs no privileges and changes nothing of the system's. */
function createApt(draft, asRoot, aptOptions) {
  const settings = [
    `Dir::State=${join(draft, 'state')}`,
    'Dir::State::status=/var/lib/dpkg/status',
    `Dir::Cache=${join(draft, 'cache')}`,
    'Debug::NoLocking=1',
    'Acquire::Languages=none',
    'Acquire::Retries=3',
    // apt started by root downloads as the user _apt, who may not write to this folder.
    ...(asRoot ? ['APT::Sandbox::User=root'] : []),
    ...aptOptions,
  ].flatMap((setting) => ['-o', setting]);
  const env = { ...process.env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
  return (...args) => run('apt-get', [...settings, ...args], { cwd: join(draft, 'debs'), env });
}

/** `exec` keeps the pid, and the parent-death signal that Backhaul sets for its Redis. */
const LAUNCHER = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
for folder in "$here"/usr/lib/*-linux-* "$here"/lib/*-linux-* "$here"/usr/lib "$here"/lib; do
  [ -d "$folder" ] && LD_LIBRARY_PATH="$folder\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH
exec "$here/usr/bin/redis-server" "$@"
`;

function createError(output) {
  return new SetupError({
    what: 'redis-server could not be fetched with apt-get.',
    why: lastLines(output),
    fix: 'sudo apt-get update && sudo apt-get install -y --no-install-recommends redis-server',
  });
}
