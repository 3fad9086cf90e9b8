import { createHash } from 'node:crypto';
import { parseStoredManifest, readApiKey } from '../../config/manifest/load-manifest.ts';
import type { Manifest } from '../../config/manifest/manifest.ts';
import type { Staging } from '../contract/staging.ts';
import { DEFAULT_BATCH_LIMITS } from '../deliver/batch-builder.ts';
import { createUnlimitedBudget, toRedisBudgetKey } from '../deliver/budget.ts';
import { createDeliver } from '../deliver/deliver.ts';
import { createRedisBudget } from '../deliver/redis-budget.ts';
import { REQUEST_TIMEOUT_MS } from '../deliver/send.ts';
import { ConfigError } from '../lib/errors.ts';
import { createOpenMigrations, type OpenMigrations } from '../migrations/open-migrations.ts';
import { bindSource, getMappingName } from '../sources/registry.ts';
import { toBudgetKey } from '../state/keys.ts';
import { encode } from '../state/migrations.ts';
import type { Runtime } from './runtime.ts';

/** Opens migrations on a site: the map of their source, and a sender under the fleet's budget. */
export function createRuntimeMigrations(site: Runtime): OpenMigrations {
  const { staging, redis, log } = site;
  return createOpenMigrations({
    staging,
    redis,
    log,
    now: () => new Date(),
    async open(record, stored) {
      const manifest = parseStoredManifest(stored, staging.location);
      assertMapping(record.mapping, getMappingName(manifest.source.type));
      const source = bindSource(manifest.source);
      const destination = resolveDestination(manifest, site);
      const { eventsPerMinute, requestsInFlight, batch } = manifest.limits;
      const key = toRedisBudgetKey(destination.url, destination.apiKey);
      const budget =
        eventsPerMinute === undefined
          ? createUnlimitedBudget()
          : createRedisBudget({
              redis,
              key,
              eventsPerMinute,
              requestTimeoutMs: REQUEST_TIMEOUT_MS,
              firstUse: await isFirstUse(staging, key),
              log,
            });
      const delivering = createDeliver({
        destination,
        limits: { requestsInFlight },
        budget,
        random: Math.random,
        now: Date.now,
        log: log.child({ migration: record.name }),
      });
      return {
        settings: {
          batch: { ...batch, eventBytes: Math.min(DEFAULT_BATCH_LIMITS.eventBytes, batch.bytes) },
          requestsInFlight,
          overwritePeople: manifest.people.overwrite,
          groupIdentifyEvent: manifest.people.groupIdentifyEvent,
        },
        map: source.createMap(),
        deliver: delivering.deliver,
        close: () => delivering.close(),
      };
    },
  });
}

export function resolveDestination(
  manifest: Manifest,
  site: Pick<Runtime, 'bundled' | 'env'>,
): { url: string; apiKey: string } {
  const apiKey = readApiKey(manifest, site.env);
  if (manifest.destination && apiKey !== undefined) return { url: manifest.destination.url, apiKey };
  if (!site.bundled) {
    throw new ConfigError(
      `migration "${manifest.name}" goes to the bundled API, and this process has none: start it with the same BACKHAUL_DATA_DIR as the run, or name a destination in the manifest`,
    );
  }
  return { url: site.bundled.url, apiKey: site.bundled.projectKey };
}

/** Another version of the map would make other events of the same records (I2). */
function assertMapping(pinned: string, own: string): void {
  if (pinned === own) return;
  throw new ConfigError(
    `the migration is pinned to mapping ${pinned}, this worker maps with ${own}; start workers of the release that began it`,
  );
}

/** Whether this staging has never sent to the destination: then a missing count is no lost count (I6). */
async function isFirstUse(staging: Staging, budget: string): Promise<boolean> {
  const name = createHash('sha256').update(budget).digest('hex').slice(0, 16);
  return staging.create(toBudgetKey(name), encode({ usedSince: new Date().toISOString() }));
}
