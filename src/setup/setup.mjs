import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, isBuildReady } from './build.mjs';
import { getCheckoutCache, getUserCache } from './cache.mjs';
import { checkNodeVersion } from './node-version.mjs';
import { arePackagesReady, installPackages } from './packages.mjs';
import { ensureRedis, findOrFetchRedis, findRedis, isRedisReady } from './redis-server.mjs';
import { SetupError } from './setup-error.mjs';

/**
 * Prepares a fresh clone: packages, a real redis-server, the build. Plain JavaScript without packages, since
 * it runs before any are installed. A checkout that is ready is recognised within a few milliseconds.
 */
export const PROJECT_ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** An installed package has the build but not its sources. */
export const isCheckout = (root) => existsSync(join(root, 'src/cli/main.ts'));

export function isSetUp({ root = PROJECT_ROOT, env = process.env, redis = true } = {}) {
  return (
    arePackagesReady(root) && isBuildReady(root) && (!redis || isRedisReady(getCheckoutCache(root), env))
  );
}

/** With `redis: false`, no redis-server is looked for. */
export async function setUp({ root = PROJECT_ROOT, env = process.env, redis = true, log = () => {} } = {}) {
  checkNodeVersion();
  if (isSetUp({ root, env, redis })) return;
  const cache = getCheckoutCache(root);
  const { withLock } = await import('./lock.mjs');
  await withLock(cache, log, async () => {
    await installPackages(root, log);
    if (redis) await ensureRedis(cache, env, log);
    await build(root, log);
  });
}

/**
 * What an installed package still needs: resolves with the path of a redis-server, which is fetched into the
 * user's cache folder where there is none, or with undefined when REDIS_URL names a running server.
 */
export async function setUpInstalled({ env = process.env, redis = true, log = () => {} } = {}) {
  checkNodeVersion();
  if (!redis || env.REDIS_URL) return undefined;
  const cache = getUserCache(env);
  const { program } = await findRedis(cache, env);
  if (program) return program;
  const { withLock } = await import('./lock.mjs');
  return withLock(cache, log, () => findOrFetchRedis(cache, env, log));
}

/** Exit code 2 asks the operator to act, as in every command of Backhaul. */
export async function exitOnError(work) {
  try {
    return await work();
  } catch (error) {
    process.stderr.write(`${error instanceof SetupError ? error.message : error.stack}\n`);
    process.exit(error instanceof SetupError ? 2 : 1);
  }
}

export const logToStderr = (text) => process.stderr.write(`set-up: ${text}\n`);

const script = process.argv[1];
if (script !== undefined && existsSync(script) && realpathSync(script) === fileURLToPath(import.meta.url)) {
  const flags = new Set(process.argv.slice(2));
  const log = flags.has('--quiet') ? undefined : logToStderr;
  await exitOnError(() => setUp({ log, redis: !flags.has('--without-redis') }));
}
