import { openSite, type Site } from '../wire.ts';
import type { CommandContext } from './context.ts';
import { reachRedis } from './reach-redis.ts';

/** With the parts of the data folder, which are closed in the end, whatever happens. */
export async function withSite<T>(
  { settings, env, log }: CommandContext,
  api: boolean,
  act: (site: Site) => Promise<T>,
): Promise<T> {
  if (settings.redisUrl) await reachRedis(settings.redisUrl, (redis) => redis.ping());
  const site = await openSite(settings, env, { api }, log);
  try {
    return await act(site);
  } finally {
    await site.close();
  }
}
