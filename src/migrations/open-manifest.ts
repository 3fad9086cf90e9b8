import type { Redis } from 'ioredis';
import { parseStoredManifest } from '../../config/manifest/load-manifest.ts';
import { REQUEST_TIMEOUT_MS } from '../contract/delivery.ts';
import type { Staging } from '../contract/staging.ts';
import { DEFAULT_BATCH_LIMITS } from '../deliver/batch-builder.ts';
import { createUnlimitedBudget, listRedisBudgetKeys } from '../deliver/budget/budget.ts';
import { COMBINED_DELAY_MS, combineBudgets } from '../deliver/budget/combined-budget.ts';
import { createRedisBudget } from '../deliver/budget/redis-budget.ts';
import { createDeliver } from '../deliver/deliver.ts';
import { raceAbort } from '../lib/async/abort.ts';
import { ConfigError } from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import { loadAcceptedEvents } from '../pipeline/accepted-events.ts';
import { limitToStored } from '../pipeline/limit-to-stored.ts';
import { bindSource } from '../sources/registry.ts';
import { toSourceSlice } from '../sources/source.ts';
import { createAcceptanceMark } from '../state/destination-marks.ts';
import type { Epoch } from '../state/epochs.ts';
import type { LedgerAccess } from '../state/ledger/ledger.ts';
import { findLatest } from '../state/migrations.ts';
import { agreeOnCount } from './agree-on-count.ts';
import { openMaps } from './manifest/open-maps.ts';
import { createMigrationStamp } from './manifest/stamps.ts';
import type { SourceAccess } from './migration-runtime.ts';
import type { OpenMigrationsDeps } from './open-migrations.ts';
import { type DestinationDeps, resolveDestination, resolveLedger } from './resolve-destination.ts';

export interface ManifestOpenerDeps extends SourceAccess, DestinationDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly log: Logger;
}

/** Resolves stored manifests for workers: the map of the source, and a sender under the fleet's budget. */
export function createManifestOpener(deps: ManifestOpenerDeps): OpenMigrationsDeps['open'] {
  const { staging, redis, log } = deps;
  return async (record, epoch, standing) => {
    const manifest = parseStoredManifest(epoch.manifest, staging.location);
    const maps = await openMaps(staging, record, manifest, deps.env);
    const source = bindSource(manifest.source);
    const access = { baseDir: record.opening.baseDir, openS3: deps.openSourceBucket };
    const destination = resolveDestination(manifest, deps);
    const ledger = resolveLedger(manifest, deps);
    assertKeyOfRun(record.name, epoch, ledger);
    const { eventsPerMinute, requestsInFlight, batch } = manifest.limits;
    const { project, service } = manifest.destination ?? {};
    const keys = listRedisBudgetKeys({ ...destination, project, service });
    const createSender = async () => {
      const budget =
        eventsPerMinute === undefined
          ? createUnlimitedBudget()
          : combineBudgets(
              await Promise.all(
                keys.map(async (key) =>
                  createRedisBudget({
                    ...{ redis, key, eventsPerMinute, log },
                    requestTimeoutMs: REQUEST_TIMEOUT_MS + (keys.length > 1 ? COMBINED_DELAY_MS : 0),
                    count: await agreeOnCount(deps, key),
                  }),
                ),
              ),
            );
      return createDeliver({
        destination,
        limits: { requestsInFlight, request: batch },
        budget,
        standing,
        acceptRefusals: epoch.acceptRefusals,
        loadAccepted: () =>
          loadAcceptedEvents({
            ...{ staging, record, stamp: createMigrationStamp(record) },
            toMap: (part, idFrom) => limitToStored(maps[idFrom ?? 'vendor'], findLatest(record, part)),
          }),
        random: Math.random,
        now: Date.now,
        log: log.child({ migration: record.name }),
      });
    };
    const sender = createLazy(createSender);
    const mark = createLazy(async () => {
      await createAcceptanceMark(staging, record, { ledger: ledger.id });
      return true;
    });
    return {
      settings: {
        batch: { ...batch, eventBytes: Math.min(DEFAULT_BATCH_LIMITS.eventBytes, batch.bytes) },
        requestsInFlight,
        overwritePeople: manifest.people.overwrite,
        groupIdentifyEvent: manifest.people.groupIdentifyEvent,
        stamp: createMigrationStamp(record),
        ledger,
      },
      maps,
      async deliver(batch, signal, condition) {
        const { deliver } = await raceAbort(sender.get(), signal);
        const deliveries = await deliver(batch, signal, condition);
        // Before a checkpoint counts them: from here on another key may lead to another project.
        if (deliveries.some(({ kind }) => kind === 'accepted')) await raceAbort(mark.get(), signal);
        return deliveries;
      },
      openSlice: (slice) => toSourceSlice(slice, source, access),
      isWaiting: () => sender.current()?.isWaiting() ?? false,
      trouble: () => sender.current()?.trouble(),
      close: async () => (await sender.peek())?.close(),
    };
  };
}

/** The key is read from this process's environment: one of another project would be sent a part of the events. */
function assertKeyOfRun(name: string, epoch: Epoch, own: LedgerAccess): void {
  const { ledger = own.id, key = own.key } = epoch;
  if (ledger === own.id && key === own.key) return;
  throw new ConfigError(
    `this process would not send with the key of the run of migration "${name}", and so perhaps to another project: start it with the key, or the bundled API, of the run`,
  );
}

/** Created at its first use: a process that only stages must not count as one that may have sent. */
function createLazy<T>(create: () => Promise<T>) {
  let created: Promise<T> | undefined;
  let current: T | undefined;
  return {
    get(): Promise<T> {
      created ??= create().then(
        (value) => {
          current = value;
          return value;
        },
        (error: unknown) => {
          created = undefined; // staging may be back at the next use
          throw error;
        },
      );
      return created;
    },
    /** Undefined until it was created. */
    current: (): T | undefined => current,
    /** Undefined where it was never used. */
    peek: async (): Promise<T | undefined> => created,
  };
}
