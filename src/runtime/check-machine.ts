import { statfs } from 'node:fs/promises';
import type { Settings } from '../../config/settings.ts';
import { findRedisServer } from '../embedded/find-redis-server.ts';
import { createPrivateFolder } from '../embedded/private-file.ts';
import { ConfigError } from '../lib/errors.ts';
import { explainEviction } from '../lib/redis/eviction-policy.ts';
import type { CheckContext } from '../migrations/doctor.ts';
import { findRefusal } from '../migrations/notify/post-message.ts';
import { formatCount } from '../migrations/plan/format-text.ts';
import { assertRights } from './assert-rights.ts';
import { reachRedis } from './reach-redis.ts';

const MIN_FREE_BYTES = 1024 ** 3;

/** What this process, its Redis, its data folder and its webhook must be like, as checks of `backhaul doctor`. */
export const createMachineChecks = (settings: Settings): CheckContext['machine'] => [
  { name: 'Node', look: async () => process.version },
  { name: 'Redis', look: () => checkRedis(settings) },
  { name: 'data folder', look: () => checkDataDir(settings.dataDir) },
  ...(settings.webhook.url === undefined
    ? []
    : [{ name: 'webhook', look: () => checkWebhook(settings.webhook) }]),
];

/** Sends nothing: the address is a secret, and neither it nor its host is shown. */
async function checkWebhook({ url = '', allowPrivate }: Settings['webhook']): Promise<string> {
  const refusal = await findRefusal({ url, allowPrivate });
  if (refusal !== undefined) throw new ConfigError(`nobody would be told: ${refusal}`);
  return 'its address may be told; nothing was sent';
}

async function checkRedis({ redisUrl, redisServer }: Settings): Promise<string> {
  if (redisUrl === undefined) {
    const { command, version } = await findRedisServer(redisServer);
    return `embedded: ${command} ${version.major}.${version.minor}`;
  }
  return reachRedis(redisUrl, async (redis) => {
    await assertRights(redis);
    const info = await redis.info();
    const field = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim();
    const eviction = await explainEviction(redis);
    if (eviction !== undefined) throw new ConfigError(eviction);
    const aof =
      field('aof_enabled') === '1'
        ? 'append-only file on'
        : 'no append-only file: a restart of Redis means re-queueing';
    return `${field('redis_version')}, ${aof}`;
  });
}

async function checkDataDir(dataDir: string): Promise<string> {
  createPrivateFolder(dataDir);
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free < MIN_FREE_BYTES) {
    throw new ConfigError(
      `${dataDir} has ${formatCount(free / 1024 ** 2)} MiB left; make room or set BACKHAUL_DATA_DIR`,
    );
  }
  return `${dataDir}, ${formatCount(free / 1024 ** 3)} GiB free`;
}
