import type { Settings } from '../../config/settings.ts';
import type { MigrationStore, PlanContext, Webhook } from '../migrations/migration-runtime.ts';
import { createBucketOpener, openStaging } from './open-staging.ts';

/**
 * For commands that look at migrations and control them: they start no Redis, and use one that runs. Its client is
 * loaded when it is asked, which `status` does of migrations alone that should be running. `onTrouble`: see S3Options.
 */
export async function openStore(
  settings: Settings,
  onTrouble?: (trouble: string | undefined) => void,
): Promise<MigrationStore> {
  return {
    staging: await openStaging(settings, onTrouble),
    now: () => new Date(),
    webhook: toWebhook(settings),
    async askRedis(ask) {
      const redisUrl = settings.redisUrl ?? (await findEmbeddedRedis(settings.dataDir));
      if (redisUrl === undefined) return undefined;
      const { reachRedis } = await import('./reach-redis.ts');
      return reachRedis(redisUrl, ask);
    },
  };
}

const findEmbeddedRedis = async (dataDir: string) =>
  (await import('../embedded/supervisor.ts')).findRunningRedis(dataDir);

/** For commands that need neither Redis nor a migration. `onTrouble`: see S3Options. */
export const createPlanContext = (
  settings: Settings,
  onTrouble?: (trouble: string | undefined) => void,
): PlanContext => ({
  now: () => new Date(),
  openStaging: () => openStaging(settings, onTrouble),
  openSourceBucket: createBucketOpener(settings, onTrouble && (() => onTrouble)),
});

/** Whom the settings have told; undefined: nobody. */
export function toWebhook({ webhook: { url, secret, allowPrivate } }: Settings): Webhook | undefined {
  return url === undefined || secret === undefined ? undefined : { url, secret, allowPrivate };
}
