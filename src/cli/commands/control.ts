import { mirrorControl } from '../../checkpoint/redis-checkpoints.ts';
import { ConfigError, messageOf } from '../../errors.ts';
import { loadControl, loadMigration, saveControl } from '../../migration/migration.ts';
import { findRunningRedis } from '../../supervise/supervisor.ts';
import { openStaging } from '../../wire-staging.ts';
import { resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { noSuchMigration } from '../no-such-migration.ts';
import { reachRedis } from '../reach-redis.ts';

export const pause = (context: CommandContext, name: string) => set(context, name, 'paused');
export const cancel = (context: CommandContext, name: string) => set(context, name, 'cancelled');

/** Staging first, so that it holds whatever happens to Redis; then Redis, so that workers hear of it now. */
async function set(context: CommandContext, name: string, state: 'paused' | 'cancelled'): Promise<ExitCode> {
  const { settings, terminal } = context;
  const staging = await openStaging(settings);
  const record = await loadMigration(staging, name);
  if (!record) throw await noSuchMigration(staging, name);
  if ((await loadControl(staging, name))?.state === 'finished') {
    throw new ConfigError(
      `migration "${name}" is finished; there is nothing to ${state === 'paused' ? 'pause' : 'cancel'}`,
    );
  }
  const at = new Date().toISOString();
  await saveControl(staging, name, { state, reason: 'asked for on the command line', at });

  const redisUrl = settings.redisUrl ?? (await findRunningRedis(settings.dataDir));
  if (redisUrl) {
    await reachRedis(redisUrl, (redis) => mirrorControl(redis, record.id, state)).catch((error: unknown) => {
      terminal.say(
        `${messageOf(error)}. Staging holds that ${name} is ${state}; what runs now hears of it once it looks there.`,
      );
    });
  }
  terminal.data(
    { migration: name, state, at },
    () => `${name} is ${state}. Go on with: ${resumeCommand(context, name)}`,
  );
  return EXIT.done;
}
