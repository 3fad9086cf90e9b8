import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readStamp, writeStamp } from './cache.mjs';
import { run } from './run.mjs';
import { SetupError } from './setup-error.mjs';

const WHY =
  'Backhaul keeps its queue in a private Redis (6.2 or newer, or Valkey), which it starts and stops itself.';

/** Looks at files only: a program whose version was checked before is still there, unchanged. */
export function isRedisReady(cache, env) {
  if (env.REDIS_URL) return true;
  const checked = readStamp(cache, 'redis');
  return checked !== undefined && listCandidates(cache, env).some((path) => computeStamp(path) === checked);
}

/** Finds or fetches a redis-server and remembers that its version was checked. */
export async function ensureRedis(cache, env, log) {
  if (isRedisReady(cache, env)) return;
  const program = await findOrFetchRedis(cache, env, log);
  writeStamp(cache, 'redis', computeStamp(program));
}

/**
 * Resolves with the path of a usable program: the one of BACKHAUL_REDIS_SERVER, one on the PATH, or the
 * copy unpacked earlier. Where there is none, or only an old one, Debian's or Ubuntu's package is fetched
 * and unpacked into `cache`.
 */
export async function findOrFetchRedis(cache, env, log) {
  const { program, tooOld } = await findRedis(cache, env);
  if (program !== undefined) return program;
  if (env.BACKHAUL_REDIS_SERVER) {
    throw new SetupError({
      what: `BACKHAUL_REDIS_SERVER names ${env.BACKHAUL_REDIS_SERVER}, which is no redis-server of version 6.2 or newer.`,
      why: WHY,
      fix: 'unset BACKHAUL_REDIS_SERVER, or set it to another program',
    });
  }
  const has = (name) => findProgram(name, env) !== undefined;
  if (!has('apt-get') || !has('dpkg-deb')) {
    const what =
      tooOld.length > 0
        ? `Only an older Redis was found: ${tooOld.join(', ')}.`
        : 'No redis-server was found.';
    throw new SetupError({ what, why: WHY, fix: suggestInstall(process.platform, has) });
  }
  log('fetching redis-server (apt-get download; nothing is installed system-wide)');
  const { unpackRedis } = await import('./unpack-redis.mjs');
  await unpackRedis({ folder: join(cache, 'redis'), asRoot: process.getuid?.() === 0 });
  const unpacked = unpackedPath(cache);
  if ((await checkVersion(unpacked)).usable) return unpacked;
  throw new SetupError({
    what: 'The redis-server of this distribution is older than 6.2.',
    why: WHY,
    fix: 'install one from https://packages.redis.io, or set REDIS_URL to a running server',
  });
}

/** `program` is the first usable one; `tooOld` describes the others that were found before it. */
export async function findRedis(cache, env) {
  const tooOld = [];
  for (const path of listCandidates(cache, env)) {
    const { usable, version } = await checkVersion(path);
    if (usable) return { program: path, tooOld };
    if (version !== undefined) tooOld.push(`${path} ${version}`);
  }
  return { program: undefined, tooOld };
}

/** The one command for a system without apt. */
export function suggestInstall(platform, has) {
  if (platform === 'darwin') return 'brew install redis';
  const commands = {
    dnf: 'sudo dnf install -y valkey',
    apk: 'sudo apk add redis',
    pacman: 'sudo pacman -S --noconfirm valkey',
    zypper: 'sudo zypper install -y redis',
  };
  const known = Object.keys(commands).find(has);
  return known === undefined
    ? 'install Redis or Valkey, or set BACKHAUL_REDIS_SERVER to a program or REDIS_URL to a running server'
    : commands[known];
}

async function checkVersion(path) {
  if (computeStamp(path) === undefined) return { usable: false, version: undefined };
  const { stdout } = await run(path, ['--version']);
  const [, major, minor] = /\bserver v=(\d+)\.(\d+)/.exec(stdout) ?? [];
  if (major === undefined) return { usable: false, version: undefined };
  const usable = Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2);
  return { usable, version: `${major}.${minor}` };
}

function listCandidates(cache, env) {
  if (env.BACKHAUL_REDIS_SERVER) return [env.BACKHAUL_REDIS_SERVER];
  const onPath = ['redis-server', 'valkey-server'].map((name) => findProgram(name, env));
  return [...onPath.filter((path) => path !== undefined), unpackedPath(cache)];
}

const unpackedPath = (cache) => join(cache, 'redis', 'redis-server');

function computeStamp(path) {
  const file = statSync(path, { throwIfNoEntry: false });
  return file && `${path} ${file.size} ${file.mtimeMs}`;
}

function findProgram(name, env) {
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
