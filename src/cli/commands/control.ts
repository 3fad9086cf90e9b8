import { findRunningRedis } from '../../embedded/supervisor.ts';
import { getMessage } from '../../lib/errors.ts';
import { applyEvent, requireMigration } from '../../migrations/life-store.ts';
import { openStaging } from '../../runtime/open-staging.ts';
import { reachRedis } from '../../runtime/reach-redis.ts';
import { mirrorControl } from '../../state/checkpoints.ts';
import { resumeCommand } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

export const pause = (context: CommandContext, name: string) => set(context, name, 'paused');
export const cancel = (context: CommandContext, name: string) => set(context, name, 'cancelled');

/** Staging first, so that it holds whatever happens to Redis; then Redis, so that workers hear of it now. */
async function set(context: CommandContext, name: string, state: 'paused' | 'cancelled'): Promise<ExitCode> {
  const { settings, terminal } = context;
  const staging = await openStaging(settings);
  const record = await requireMigration(staging, name);
  const at = new Date().toISOString();
  const kind = state === 'paused' ? 'pause' : 'cancel';
  await applyEvent(staging, name, { kind }, { reason: 'asked for on the command line', at });

  const redisUrl = settings.redisUrl ?? (await findRunningRedis(settings.dataDir));
  if (redisUrl) {
    await reachRedis(redisUrl, (redis) => mirrorControl(redis, record.id, state)).catch((error: unknown) => {
      terminal.say(
        `${getMessage(error)}. Staging holds that ${name} is ${state}; what runs now hears of it once it looks there.`,
      );
    });
  }
  terminal.data(
    { migration: name, state, at },
    () => `${name} is ${state}. Go on with: ${resumeCommand(context, name)}`,
  );
  return EXIT.done;
}
