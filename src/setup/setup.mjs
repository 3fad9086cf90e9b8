import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, buildReady } from './build.mjs';
import { withLock } from './lock.mjs';
import { checkNodeVersion } from './node-version.mjs';
import { installPackages, packagesReady } from './packages.mjs';
import { ensureRedis, redisReady } from './redis-server.mjs';
import { SetupError } from './setup-error.mjs';

/**
 * Makes a fresh clone ready: packages, a real redis-server, the build. Plain JavaScript without
 * packages, for it runs before there are any. What is ready already costs some milliseconds.
 */
export const PROJECT_ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** `redis: false` leaves the redis-server out. */
export function isSetUp({ root = PROJECT_ROOT, env = process.env, redis = true } = {}) {
  return packagesReady(root) && buildReady(root) && (!redis || redisReady(root, env));
}

export async function setUp({ root = PROJECT_ROOT, env = process.env, redis = true, say = () => {} } = {}) {
  checkNodeVersion();
  if (isSetUp({ root, env, redis })) return;
  await withLock(root, say, async () => {
    await installPackages(root, say);
    if (redis) await ensureRedis(root, env, say);
    await build(root, say);
  });
}

/** Exit code 2 asks the operator to act, as everywhere in Backhaul. */
export async function setUpOrExit(options) {
  try {
    await setUp(options);
  } catch (error) {
    process.stderr.write(`${error instanceof SetupError ? error.message : error.stack}\n`);
    process.exit(error instanceof SetupError ? 2 : 1);
  }
}

export const sayOnStderr = (text) => process.stderr.write(`set-up: ${text}\n`);

const started = process.argv[1];
if (
  started !== undefined &&
  existsSync(started) &&
  realpathSync(started) === fileURLToPath(import.meta.url)
) {
  const flags = new Set(process.argv.slice(2));
  const say = flags.has('--quiet') ? undefined : sayOnStderr;
  await setUpOrExit({ say, redis: !flags.has('--without-redis') });
}
