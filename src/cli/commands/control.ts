import { Redis } from 'ioredis';
import { migrationKey } from '../../checkpoint/redis-checkpoints.ts';
import { ConfigError } from '../../errors.ts';
import { loadControl, loadMigration, saveControl } from '../../migration/migration.ts';
import { findRunningRedis } from '../../supervise/supervisor.ts';
import { openStaging } from '../../wire.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

export const pause = (context: CommandContext, name: string) => set(context, name, 'paused');
export const cancel = (context: CommandContext, name: string) => set(context, name, 'cancelled');

/** Staging first, so that it holds whatever happens to Redis; then Redis, so that workers hear of it now. */
async function set(
  { settings, terminal }: CommandContext,
  name: string,
  state: 'paused' | 'cancelled',
): Promise<ExitCode> {
  const staging = openStaging(settings);
  const record = await loadMigration(staging, name);
  if (!record) throw new ConfigError(`there is no migration "${name}" in ${staging.location}`);
  if ((await loadControl(staging, name))?.state === 'finished') {
    throw new ConfigError(
      `migration "${name}" is finished; there is nothing to ${state === 'paused' ? 'pause' : 'cancel'}`,
    );
  }
  const at = new Date().toISOString();
  await saveControl(staging, name, { state, reason: 'asked for on the command line', at });

  const redisUrl = settings.redisUrl ?? (await findRunningRedis(settings.dataDir));
  if (redisUrl) {
    const redis = new Redis(redisUrl, { maxRetriesPerRequest: 2 });
    try {
      const key = migrationKey(record.id);
      if (await redis.exists(key)) await redis.hset(key, 'control', state);
    } finally {
      redis.disconnect();
    }
  }
  terminal.data(
    { migration: name, state, at },
    () => `${name} is ${state}. Go on with: backhaul resume ${name}`,
  );
  return EXIT.done;
}
