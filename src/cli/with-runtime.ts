import { explainEviction } from '../lib/redis/eviction-policy.ts';
import { assertRights } from '../runtime/assert-rights.ts';
import { reachRedis } from '../runtime/reach-redis.ts';
import { type BundledApi, openRuntime, type Runtime } from '../runtime/runtime.ts';
import type { CommandContext } from './context.ts';

/** With the parts of the data folder, which are closed in the end, whatever happens. */
export async function withRuntime<T>(
  { settings, env, openLog }: CommandContext,
  api: boolean,
  act: (runtime: Runtime) => Promise<T>,
): Promise<T> {
  const log = await openLog();
  if (settings.redisUrl) {
    const eviction = await reachRedis(settings.redisUrl, async (redis) => {
      await assertRights(redis);
      return explainEviction(redis);
    });
    if (eviction !== undefined) log.warn(eviction);
  }
  const runtime = await openRuntime(settings, env, { api }, log);
  try {
    return await act(runtime);
  } finally {
    await runtime.close();
  }
}

/** With the API of the data folder: the one that runs there, or else one that is started for the while. */
export function withBundled<T>(context: CommandContext, act: (api: BundledApi) => Promise<T>): Promise<T> {
  return withRuntime(context, true, ({ bundled }) => {
    if (!bundled) throw new Error('the bundled API did not start');
    return act(bundled);
  });
}
