import { setTimeout as wait } from 'node:timers/promises';
import { addCounts, zeroCounts } from '../contract/counts.ts';
import type { RecordCounts } from '../contract/progress.ts';
import type { Staging } from '../contract/staging.ts';
import { loadControl } from '../state/control.ts';
import { isDocument, layout, parsePartKey, parseReceiptKey, partKeys } from '../state/keys.ts';
import { listMigrations } from '../state/migrations.ts';
import { loadPartMeta } from '../state/parts.ts';
import { loadProgressNote, type Progress as ProgressOfRun } from '../state/progress-note.ts';
import { loadReceipt } from '../state/receipts.ts';
import { requireMigration } from './life-store.ts';
import { type ShownState, toShownState, toState } from './lifecycle.ts';
import type { MigrationStore } from './migration-runtime.ts';
import { leaseKey } from './run/lease.ts';

export interface MigrationStatus extends Progress {
  readonly migration: string;
  readonly state: ShownState;
  /** Why it is in that state; empty where there is nothing to add. */
  readonly reason: string;
  /** What its producer is doing; undefined unless it runs. */
  readonly run?: RunProgress;
}

export interface RunProgress {
  readonly phase: NonNullable<ProgressOfRun['phase']>;
  readonly recordsPerSecond: number;
  /** Undefined while it is not known. */
  readonly secondsLeft?: number;
  /** What is down and waited for, and why. */
  readonly waitingFor?: string;
}

const WATCH_EVERY_MS = 2_000;

/**
 * The status of one migration, or of all: from staging, and from Redis whether a producer holds the lease.
 * Throws RefusedError for a name that does not exist.
 */
export async function loadStatus(store: MigrationStore, name?: string): Promise<MigrationStatus[]> {
  return (await createStatusReader(store, name))();
}

/** Calls `onStatus` every two seconds, until none of them runs or the signal is aborted. */
export async function watchStatus(
  store: MigrationStore,
  name: string | undefined,
  { signal, onStatus }: { signal: AbortSignal; onStatus: (all: MigrationStatus[]) => void },
): Promise<void> {
  const read = await createStatusReader(store, name);
  while (!signal.aborted) {
    const all = await read();
    onStatus(all);
    if (all.every(({ state }) => state !== 'running')) return;
    await wait(WATCH_EVERY_MS, undefined, { signal }).catch(() => {});
  }
}

async function createStatusReader(
  store: MigrationStore,
  name: string | undefined,
): Promise<() => Promise<MigrationStatus[]>> {
  const names = name === undefined ? await listMigrations(store.staging) : [name];
  const readers = await Promise.all(names.map((each) => createOneReader(store, each)));
  return () => Promise.all(readers.map((read) => read()));
}

async function createOneReader(store: MigrationStore, name: string): Promise<() => Promise<MigrationStatus>> {
  const record = await requireMigration(store.staging, name);
  const readProgress = createProgressReader(store.staging, name);
  /** No producer holds the lease where no Redis can be reached. */
  const isLeased = () =>
    store
      .askRedis(async (redis) => (await redis.exists(leaseKey(record.id))) === 1)
      .then(
        (leased) => leased ?? false,
        () => false,
      );
  return async () => {
    const control = await loadControl(store.staging, name);
    const state = toState(record, control);
    const unleased = toShownState(state, false);
    const shown = unleased === 'interrupted' ? toShownState(state, await isLeased()) : unleased;
    const { run, ...progress } = await readProgress();
    return {
      migration: name,
      state: shown,
      reason:
        shown === 'interrupted' ? 'no process runs it: the one that did was killed' : (control?.reason ?? ''),
      ...progress,
      ...(shown === 'running' && run ? { run } : {}),
    };
  };
}

/** How far a migration is, from staging: receipts, and the producer's note of parts under way. */
export interface Progress {
  readonly parts: { readonly done: number; readonly staged: number };
  readonly records: { readonly staged: number };
  readonly counts: RecordCounts;
}

/** With what the producer noted of itself, while it ran. */
type NotedProgress = Progress & { readonly run?: RunProgress };

/** How many small objects are loaded at once; on S3 each is a round trip. */
const READ_AHEAD = 16;

/**
 * Returns a function that reads how far a migration is. Descriptions of parts and receipts never change, so
 * each is read once and added up; a read of a migration that makes no progress only lists its keys.
 */
export function createProgressReader(staging: Staging, name: string): () => Promise<NotedProgress> {
  let staged = 0;
  let counts = zeroCounts();
  const { prefix, receipts: receiptsPrefix } = layout(name);
  const loadMeta = (key: string) => loadPartMeta(staging, prefix, parsePartKey(prefix, key));
  const parts = createReader(staging, partKeys(prefix).parts, loadMeta, ({ records }) => {
    staged += records;
  });
  const load = (key: string) => loadReceipt(staging, name, parseReceiptKey(name, key));
  const receipts = createReader(staging, receiptsPrefix, load, ({ tally }) => {
    counts = addCounts(counts, tally.counts);
  });
  return async () => {
    const done = await receipts(); // before the parts: a receipt never comes without its part
    const noted = await loadProgressNote(staging, name);
    return {
      parts: { done, staged: await parts() },
      records: { staged },
      // Workers may have finished parts after the producer's last note.
      counts: noted !== undefined && noted.read > counts.read ? pickCounts(noted) : counts,
      ...readRun(noted),
    };
  };
}

const pickCounts = ({ read, delivered, skipped, duplicate, rejected }: ProgressOfRun): RecordCounts => ({
  read,
  delivered,
  skipped,
  duplicate,
  rejected,
});

/** Nothing where version 0.1.0 wrote the note. */
function readRun(noted: ProgressOfRun | undefined): { run?: RunProgress } {
  if (noted?.phase === undefined) return {};
  const { phase, recordsPerSecond = 0, secondsLeft, waitingFor } = noted;
  return {
    run: {
      phase,
      recordsPerSecond,
      ...(secondsLeft === undefined ? {} : { secondsLeft }),
      ...(waitingFor === undefined ? {} : { waitingFor }),
    },
  };
}

/** Passes each document below a prefix to `take` once; returns how many it has passed so far. */
function createReader<T>(
  staging: Staging,
  prefix: string,
  load: (key: string) => Promise<T | undefined>,
  take: (value: T) => void,
) {
  const taken = new Set<string>();
  const readNew = async (keys: readonly string[]) => {
    const found = await Promise.all(keys.map(load));
    for (const [index, key] of keys.entries()) {
      const value = found[index];
      if (value === undefined) continue;
      take(value);
      taken.add(key);
    }
  };
  return async (): Promise<number> => {
    let fresh: string[] = [];
    for await (const { key } of staging.list(prefix)) {
      if (!isDocument(key) || taken.has(key)) continue;
      fresh.push(key);
      if (fresh.length < READ_AHEAD) continue;
      await readNew(fresh);
      fresh = [];
    }
    await readNew(fresh);
    return taken.size;
  };
}
