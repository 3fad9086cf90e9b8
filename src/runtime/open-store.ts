import type { Settings } from '../../config/settings.ts';
import { findRunningRedis } from '../embedded/supervisor.ts';
import type { MigrationStore, PlanContext, Webhook } from '../migrations/migration-runtime.ts';
import { createBucketOpener, openStaging } from './open-staging.ts';
import { reachRedis } from './reach-redis.ts';

/** For commands that look at migrations and control them: they start no Redis, and use one that runs. */
export async function openStore(settings: Settings): Promise<MigrationStore> {
  return {
    staging: await openStaging(settings),
    now: () => new Date(),
    webhook: toWebhook(settings),
    async askRedis(ask) {
      const redisUrl = settings.redisUrl ?? (await findRunningRedis(settings.dataDir));
      return redisUrl === undefined ? undefined : reachRedis(redisUrl, ask);
    },
  };
}

/** For commands that need neither Redis nor a migration. */
export const createPlanContext = (settings: Settings): PlanContext => ({
  now: () => new Date(),
  openStaging: () => openStaging(settings),
  openSourceBucket: createBucketOpener(settings),
});

/** Whom the settings have told; undefined: nobody. */
export function toWebhook({ webhook: { url, secret, allowPrivate } }: Settings): Webhook | undefined {
  return url === undefined || secret === undefined ? undefined : { url, secret, allowPrivate };
}
