import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { cachePath, putStamp, readStamp } from './cache.mjs';
import { run } from './run.mjs';
import { SetupError } from './setup-error.mjs';
import { unpackRedis } from './unpack-redis.mjs';

const WHY =
  'Backhaul keeps its queue in a private Redis (6.2 or newer, or Valkey), which it starts and stops itself.';

/** Looks at files only: the program that was found and proved before is still there. */
export function redisReady(root, env) {
  if (env.REDIS_URL) return true;
  const proved = readStamp(root, 'redis');
  return proved !== undefined && listCandidates(root, env).some((path) => stampOf(path) === proved);
}

/**
 * A Redis that runs elsewhere (REDIS_URL), the program of BACKHAUL_REDIS_SERVER, one on the PATH, the copy
 * unpacked earlier; where there is none, or only an old one, Debian's or Ubuntu's is fetched.
 */
export async function ensureRedis(root, env, say) {
  if (redisReady(root, env)) return;
  const old = await proveFirst(root, listCandidates(root, env));
  if (old === undefined) return;
  if (env.BACKHAUL_REDIS_SERVER) {
    throw new SetupError({
      what: `BACKHAUL_REDIS_SERVER names ${env.BACKHAUL_REDIS_SERVER}, which is no redis-server of version 6.2 or newer.`,
      why: WHY,
      mend: 'unset BACKHAUL_REDIS_SERVER, or let it name another program',
    });
  }
  const has = (name) => findProgram(name, env) !== undefined;
  const what =
    old.length > 0 ? `Only an older Redis was found: ${old.join(', ')}.` : 'No redis-server was found.';
  if (!has('apt-get') || !has('dpkg-deb')) {
    throw new SetupError({ what, why: WHY, mend: planMend(process.platform, has) });
  }
  say('fetching redis-server (apt-get download; nothing is installed system-wide)');
  await unpackRedis({ folder: cachePath(root, 'redis'), asRoot: process.getuid?.() === 0 });
  if ((await proveFirst(root, [unpackedPath(root)])) === undefined) return;
  throw new SetupError({
    what: 'The redis-server of this distribution is older than 6.2.',
    why: WHY,
    mend: 'install one from https://packages.redis.io, or name a running server with REDIS_URL',
  });
}

/** The one command for a system without apt. */
export function planMend(platform, has) {
  if (platform === 'darwin') return 'brew install redis';
  const commands = {
    dnf: 'sudo dnf install -y valkey',
    apk: 'sudo apk add redis',
    pacman: 'sudo pacman -S --noconfirm valkey',
    zypper: 'sudo zypper install -y redis',
  };
  const known = Object.keys(commands).find(has);
  return known === undefined
    ? 'install Redis or Valkey, or name a program with BACKHAUL_REDIS_SERVER or a running server with REDIS_URL'
    : commands[known];
}

/** Undefined once one is good enough; else what is too old. */
async function proveFirst(root, candidates) {
  const old = [];
  for (const path of candidates) {
    const stamp = stampOf(path);
    const { stdout } = await run(path, ['--version']);
    const [, major, minor] = /\bserver v=(\d+)\.(\d+)/.exec(stdout) ?? [];
    if (stamp !== undefined && (Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 2))) {
      putStamp(root, 'redis', stamp);
      return undefined;
    }
    if (major !== undefined) old.push(`${path} ${major}.${minor}`);
  }
  return old;
}

function listCandidates(root, env) {
  if (env.BACKHAUL_REDIS_SERVER) return [env.BACKHAUL_REDIS_SERVER];
  const onPath = ['redis-server', 'valkey-server'].map((name) => findProgram(name, env));
  return [...onPath.filter((path) => path !== undefined), unpackedPath(root)];
}

const unpackedPath = (root) => cachePath(root, 'redis', 'redis-server');

function stampOf(path) {
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
