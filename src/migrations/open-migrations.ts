import type { Redis } from 'ioredis';
import type { Deliver, Standing } from '../contract/delivery.ts';
import type { Slice } from '../contract/slice.ts';
import type { Staging } from '../contract/staging.ts';
import type { BatchLimits } from '../deliver/batch-builder.ts';
import type { Stamp } from '../deliver/stamp.ts';
import {
  BackhaulError,
  ConfigError,
  FencedOutError,
  getMessage,
  PausedError,
  SourceError,
  UnableError,
  UnavailableError,
} from '../lib/errors.ts';
import type { Logger } from '../lib/logger.ts';
import type { SourceSlice } from '../sources/source.ts';
import { mirrorControl } from '../state/checkpoints.ts';
import { loadControl } from '../state/control.ts';
import { type Epoch, loadEpoch } from '../state/epochs.ts';
import type { LedgerAccess } from '../state/ledger/ledger.ts';
import { loadMigration, type MigrationRecord } from '../state/migrations.ts';
import { applyEvent } from './life-store.ts';
import { DUTIES, EPOCH_DUTIES, toState } from './lifecycle.ts';
import type { ImportMaps } from './manifest/open-maps.ts';
import { isLeased, loadStanding, type WatchedStanding, watchStanding } from './run/standing.ts';

/** A migration as a worker needs it: all of its settings resolved for one epoch. */
export interface OpenMigration {
  readonly record: MigrationRecord;
  readonly epoch: number;
  readonly settings: WorkSettings;
  readonly maps: ImportMaps;
  readonly deliver: Deliver;
  /** What the destination answers instead of taking events, while they are sent again. @default nothing */
  readonly trouble?: () => string | undefined;
  /** For slices on shared storage, with the settings of this process. */
  readonly openSlice: (slice: Slice) => SourceSlice;
}

/** The part of a manifest that workers act on. */
export interface WorkSettings {
  readonly batch: BatchLimits;
  readonly requestsInFlight: number;
  readonly overwritePeople: boolean;
  readonly groupIdentifyEvent: string;
  readonly stamp?: Stamp | undefined;
  readonly ledger: LedgerAccess;
}

export interface Opened extends Omit<OpenMigration, 'record' | 'epoch'> {
  /** Whether its events wait for a permit, or for the destination. @default never */
  readonly isWaiting?: () => boolean;
  close(): Promise<void>;
}

export interface OpenMigrationsDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly log: Logger;
  /** Resolves an epoch's manifest: secrets from this process's environment, map, sender. */
  readonly open: (record: MigrationRecord, epoch: Epoch, standing: Standing) => Promise<Opened>;
  readonly now: () => Date;
}

/** Whose job it is. */
export interface JobOf {
  readonly migration: string;
  readonly id: string;
  readonly epoch: number;
}

/** Why work was handed back: the migration is stopped, paused or cancelled. */
class StopRequest extends Error {}

const CONTROL_EVERY_MS = 500;
/** A migration without jobs is closed after this; its next job opens it again. */
const IDLE_MS = 60_000;

interface Entry {
  /** Of the migration: another one may begin under the same name. */
  readonly id: string;
  readonly epoch: number;
  readonly standing: WatchedStanding;
  readonly opened: Promise<OpenMigration & Opened>;
  users: number;
  isWaiting: () => boolean;
  readonly stop: AbortController;
  timer: NodeJS.Timeout | undefined;
  idle: NodeJS.Timeout | undefined;
}

/**
 * The migrations this process works on. Each epoch of a migration is opened once and shared by its jobs; a
 * stop, pause or cancel reaches them through `signal` within half a second.
 */
export function createOpenMigrations(deps: OpenMigrationsDeps) {
  const { staging, redis, log, now } = deps;
  const entries = new Map<string, Entry>();

  const load = async (name: string, epoch: number, standing: Standing): Promise<OpenMigration & Opened> => {
    const record = await loadMigration(staging, name);
    const opening = record && (await loadEpoch(staging, record, epoch));
    if (!record || !opening) {
      throw new SourceError(
        `${staging.location} holds no migration "${name}" (epoch ${epoch}); is this worker set to the same staging as the producer?`,
      );
    }
    await staging.assertWritable?.();
    return { ...(await deps.open(record, opening, standing)), record, epoch };
  };

  const acquire = ({ migration: name, id, epoch }: JobOf): Entry => {
    const known = entries.get(name);
    if (known && known.id === id) {
      if (known.epoch > epoch) throw new FencedOutError(`epoch ${epoch} of ${name} is over`);
      if (known.epoch === epoch) {
        clearTimeout(known.idle);
        return known;
      }
    }
    const standing = watchStanding(redis, { id, epoch });
    const entry: Entry = {
      id,
      epoch,
      standing,
      opened: load(name, epoch, standing),
      users: 0,
      isWaiting: () => false,
      stop: new AbortController(),
      timer: undefined,
      idle: undefined,
    };
    entries.set(name, entry);
    entry.opened.then(
      ({ isWaiting }) => {
        if (isWaiting) entry.isWaiting = isWaiting;
      },
      () => entries.get(name) === entry && entries.delete(name),
    );
    if (known) void retire(known);
    return entry;
  };

  const retire = async (entry: Entry) => {
    clearTimeout(entry.timer);
    clearTimeout(entry.idle);
    if (entry.users > 0) return; // its last user retires it
    await entry.opened.then(
      (opened) => opened.close(),
      () => {},
    );
  };

  const watch = (entry: Entry) => {
    entry.timer ??= setTimeout(async () => {
      entry.timer = undefined;
      const why = await entry.standing.look().catch(() => undefined);
      if (why !== undefined) entry.stop.abort(new StopRequest(why));
      else if (entry.users > 0) watch(entry);
    }, CONTROL_EVERY_MS).unref();
  };

  const closeWhenIdle = (entry: Entry, name: string) => {
    entry.idle = setTimeout(() => {
      if (entry.users > 0 || entries.get(name) !== entry) return;
      entries.delete(name);
      void retire(entry);
    }, IDLE_MS).unref();
  };

  /** A worker that cannot open a migration is configured wrongly; others may not be. Staging may be away for all. */
  const waitForOpened = async (entry: Entry, name: string) => {
    try {
      return await entry.opened;
    } catch (error) {
      const isUnable = error instanceof BackhaulError && error.retry === 'never';
      log.error(
        { migration: name, err: getMessage(error) },
        'this worker cannot work on the migration; left to others',
      );
      throw new (isUnable ? UnableError : UnavailableError)(getMessage(error), 'backoff', error);
    }
  };

  /**
   * Staging first: what it says holds even when Redis is lost in the same second. Only for the epoch in
   * force: a late answer to an older one must not pause what was corrected and resumed.
   */
  const pause = async (migration: OpenMigration, reason: string) => {
    const { record, epoch } = migration;
    const { standing } = await loadStanding(redis, { id: record.id, epoch });
    if (EPOCH_DUTIES[standing].worker === 'hand_back') return;
    const event = { kind: 'pause_by_worker', epoch } as const;
    const entered = await applyEvent(staging, record, event, { reason, at: now().toISOString() });
    if (entered.kind === 'enter') await mirrorControl(redis, record.id, entered);
  };

  /**
   * The job of a migration that is not the one of that name here: of another staging, or one that was removed, perhaps
   * while Redis was away. Where no producer drives it, nobody waits for the job: whoever resumes it offers its own.
   */
  const explainOther = async (
    { migration: name, id, epoch }: JobOf,
    here: string | undefined,
  ): Promise<Error> => {
    const { standing } = await loadStanding(redis, { id, epoch });
    if (EPOCH_DUTIES[standing].worker === 'hand_back' || !(await isLeased(redis, id)))
      return new FencedOutError(
        `epoch ${epoch} of the migration ${id}, which had the name "${name}", is over`,
      );
    const held =
      here === undefined ? `no migration "${name}"` : `another migration "${name}" than that of the job`;
    const message = `${staging.location} holds ${held}; is this worker set to the same staging as the producer?`;
    log.error({ migration: name, err: message }, 'this worker cannot work on the migration; left to others');
    return new UnableError(message);
  };

  return {
    /**
     * Runs one job's work; a stop, pause or cancel becomes `handed_back`, and the job is left to whoever
     * resumes. Throws FencedOutError for an epoch that is not in force, and UnableError where staging here holds
     * another migration of that name.
     */
    async use<T extends object>(
      of: JobOf,
      outer: AbortSignal,
      work: (migration: OpenMigration, signal: AbortSignal) => Promise<T>,
    ): Promise<T | { kind: 'handed_back'; why: string }> {
      const { migration: name, epoch } = of;
      // One that was removed and begun again has epochs of its own, and perhaps another destination.
      const id = (await loadMigration(staging, name))?.id;
      if (id !== of.id) throw await explainOther(of, id);
      const entry = acquire(of);
      entry.users += 1;
      try {
        const migration = await waitForOpened(entry, name);
        const { known, standing } = await loadStanding(redis, { id: migration.record.id, epoch });
        if (EPOCH_DUTIES[standing].worker === 'hand_back') {
          throw new FencedOutError(
            `${name} is at epoch ${known ?? 'none'}, this job belongs to epoch ${epoch}`,
          );
        }
        const state = toState(migration.record, await loadControl(staging, migration.record));
        if (DUTIES[state].worker === 'hand_back') return { kind: 'handed_back', why: state };
        watch(entry);
        return await work(migration, AbortSignal.any([outer, entry.stop.signal]));
      } catch (error) {
        // Whatever an operator can correct pauses the migration, and fails no part of it.
        if (error instanceof PausedError || error instanceof ConfigError) {
          log.error({ migration: name }, error.message);
          await pause(await entry.opened, error.message);
          return { kind: 'handed_back', why: error.message };
        }
        if (entry.stop.signal.aborted && !outer.aborted)
          return { kind: 'handed_back', why: getMessage(error) };
        throw error;
      } finally {
        entry.users -= 1;
        if (entries.get(name) !== entry) await retire(entry);
        else if (entry.users === 0) closeWhenIdle(entry, name);
      }
    },

    /** Whether what this process sends of a migration waits, for its budget or its destination. */
    isWaiting: (migrationId: string): boolean =>
      [...entries.values()].some(({ id, isWaiting }) => id === migrationId && isWaiting()),

    async close() {
      const all = [...entries.values()];
      entries.clear();
      await Promise.all(all.map(retire));
    },
  };
}

export type OpenMigrations = ReturnType<typeof createOpenMigrations>;
