import { reachRedis } from '../runtime/reach-redis.ts';
import { openRuntime, type Runtime } from '../runtime/runtime.ts';
import type { CommandContext } from './context.ts';

/** With the parts of the data folder, which are closed in the end, whatever happens. */
export async function withRuntime<T>(
  { settings, env, log }: CommandContext,
  api: boolean,
  act: (site: Runtime) => Promise<T>,
): Promise<T> {
  if (settings.redisUrl) await reachRedis(settings.redisUrl, (redis) => redis.ping());
  const site = await openRuntime(settings, env, { api }, log);
  try {
    return await act(site);
  } finally {
    await site.close();
  }
}
