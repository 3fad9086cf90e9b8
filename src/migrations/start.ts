import { knowsHashKey, readHashKey } from '../../config/manifest/load-manifest.ts';
import type { PartMeta } from '../contract/part.ts';
import { raceAbort } from '../lib/async/abort.ts';
import { SourceError } from '../lib/errors.ts';
import { canonicalJson } from '../lib/json/canonical-json.ts';
import { limitToStored } from '../pipeline/limit-to-stored.ts';
import { readPinnedVersion } from '../sources/registry.ts';
import type { ImportMap } from '../sources/source.ts';
import { loadControl } from '../state/control.ts';
import { findLatest, loadMigration } from '../state/migrations.ts';
import { type Interruption, toInterruption } from './interruption.ts';
import { decideStored, requireMigration } from './life-store.ts';
import { createManifestMap } from './manifest/create-maps.ts';
import { openHashKey } from './manifest/hash-key.ts';
import { loadStoredManifest, type ManifestAt } from './manifest/stored-manifest.ts';
import type { MigrationRuntime } from './migration-runtime.ts';
import { keepTelling } from './notify/keep-telling.ts';
import { toLedgerDestination } from './persons/project/ledger-destination.ts';
import { toEpochLedger } from './prepare/compare-manifest.ts';
import { type Prepared, prepareMigration } from './prepare/prepare.ts';
import { assertNotTakenOver } from './rejects/begun-replay.ts';
import type { Report } from './report/report.ts';
import { resolveLedger } from './resolve-destination.ts';
import { ControlError, FilesAddedError, ManifestEditedError } from './run/lease.ts';
import { type RunEnd, runMigration } from './run/run-migration.ts';
import type { RunStatus } from './run/run-status.ts';
import type { Failure } from './run/scheduler.ts';
import type { Budget } from './run/time-left.ts';
import { setSchedule } from './schedule/schedules.ts';

export interface RunOptions {
  /** Stops the run at the next batch; the message of its reason is kept in control. */
  readonly signal: AbortSignal;
  /** Whether this process also imports parts, or only `backhaul worker` processes do. */
  readonly importHere: boolean;
  /** Takes new files of the source into a migration that exists. @default false: they are refused by name */
  readonly topUp?: boolean | undefined;
  /** Whether a long row of refused events is no reason to pause. @default false */
  readonly acceptRefusals?: boolean;
  /** Called once the migration exists and is checked, before anything of it runs. */
  readonly onBegin?: (migration: string) => void;
  readonly onStatus?: (status: RunStatus) => void;
}

/** How a run ended. After all but `refused` and `approval_needed`, what was saved is continued by a resume. */
export type RunResult =
  | {
      readonly kind: 'finished' | 'unbalanced' | 'rejects_above_threshold';
      readonly migration: string;
      readonly report: Report;
    }
  /** Files, parts or bucket ranges failed for good; everything else is delivered. */
  | {
      readonly kind: 'failed';
      readonly migration: string;
      readonly report: Report;
      readonly failures: readonly Failure[];
    }
  | Interruption;

/**
 * Starts the migration of a manifest, or continues the one of that name, and runs it to its end. Throws
 * ConfigError where manifest, source or staging must be changed first, and SourceError for broken sources.
 *
 * The way of a manifest, with a line for each room:
 *   cli         commands/run.ts:run
 *   migrations  start.ts:startMigration → prepare/prepare.ts:prepareMigration → start.ts:runPrepared →
 *               run/run-migration.ts:runMigration → run/lease.ts:acquireLease →
 *               run/import-phase.ts:stageAndImport → run/scheduler.ts:runScheduler
 *   jobs        work-queue.ts:add → worker.ts:createJobWorker → import-part.ts:importPartHandler
 *   migrations  open-migrations.ts:use
 *   jobs        import-part.ts:importPartHandler, with the open migration
 *   pipeline    import-part.ts:importPart
 */
export async function startMigration(
  runtime: MigrationRuntime,
  loaded: ManifestAt,
  options: RunOptions,
): Promise<RunResult> {
  const { name } = loaded.manifest;
  const { topUp = false } = options;
  let kind: 'run' | 'run_edited' | 'top_up' = 'run';
  const prepared = await orInterrupted(runtime, name, async () => {
    const { schedule } = loaded.manifest;
    if (topUp) await requireMigration(runtime.staging, name);
    // Before the source is looked at. Control that outlived its record decides nothing.
    if (await loadMigration(runtime.staging, name)) {
      kind = (await isEdited(runtime, loaded)) ? 'run_edited' : topUp ? 'top_up' : 'run';
      await decideStored(runtime.staging, name, { kind }, await loadControl(runtime.staging, name));
    }
    const ready = await prepareMigration(runtime, loaded, topUp ? 'take' : 'refuse');
    if (schedule) await setSchedule(runtime, loaded, schedule);
    return ready;
  });
  return 'kind' in prepared ? prepared : runPrepared(runtime, prepared, kind, options);
}

/**
 * Whether the manifest is another one than that of the last epoch, or that one cannot be read: the message of a
 * resume then asks for a run. What may differ is checked later.
 */
async function isEdited({ staging }: MigrationRuntime, { manifest }: ManifestAt): Promise<boolean> {
  try {
    const stored = await loadStoredManifest(staging, manifest.name);
    return canonicalJson(stored.manifest) !== canonicalJson(manifest);
  } catch (error) {
    if (error instanceof SourceError) return true;
    throw error;
  }
}

/** Continues a migration from what staging knows, whatever ended it; throws as startMigration does. */
export async function resumeMigration(
  runtime: MigrationRuntime,
  name: string,
  options: RunOptions,
): Promise<RunResult> {
  const prepared = await orInterrupted(runtime, name, async () => {
    const record = await requireMigration(runtime.staging, name);
    const control = await loadControl(runtime.staging, name);
    await assertNotTakenOver(runtime, record);
    await decideStored(runtime.staging, name, { kind: 'resume' }, control);
    return prepareMigration(runtime, await loadStoredManifest(runtime.staging, name), 'leave');
  });
  return 'kind' in prepared ? prepared : runPrepared(runtime, prepared, 'resume', options);
}

/**
 * Runs a prepared migration to its end. Where another process took files in before this one got the lease, it is prepared
 * again, as staging has it: whoever was first decided with which others each file is staged. So is a resume where another
 * process ran the migration with other limits, approval or settings since it read them.
 */
export async function runPrepared(
  runtime: MigrationRuntime,
  prepared: Prepared,
  cause: 'run' | 'run_edited' | 'top_up' | 'resume',
  options: RunOptions,
): Promise<RunResult> {
  const { name } = prepared.record;
  const refused = await orInterrupted(runtime, name, () => assertHashKey(runtime, prepared, options));
  if (refused) return refused;
  options.onBegin?.(name);
  const telling = await keepTelling(runtime, name);
  try {
    for (let ready = prepared; ; ) {
      const result = await runConnected(runtime, ready, cause, options);
      if (result !== 'files_added' && result !== 'manifest_edited') return result;
      const loaded = result === 'files_added' ? ready : await loadStoredManifest(runtime.staging, name);
      ready = await prepareMigration(runtime, loaded, 'leave', { allowEmpty: true });
    }
  } catch (error) {
    return toInterruption(error, {
      migration: name,
      begun: true,
      stop: options.signal,
      failed: runtime.failed,
      reason: await loadReason(runtime, name, error),
    });
  } finally {
    await telling.close();
  }
}

/**
 * Throws ConfigError where this process hashes personal data with another key than the migration, before it holds
 * the lease: its own workers would leave every part to others, and there may be none.
 */
async function assertHashKey(
  { staging, env }: MigrationRuntime,
  { record, manifest }: Prepared,
  { importHere }: RunOptions,
): Promise<void> {
  if (importHere || knowsHashKey(manifest, env)) await openHashKey(staging, record, manifest, env);
}

/** Connects a prepared migration to queues and workers, and closes all of them at its end. */
async function runConnected(
  runtime: MigrationRuntime,
  prepared: Prepared,
  cause: Parameters<typeof runPrepared>[2],
  { signal: stop, importHere, acceptRefusals = false, onStatus }: RunOptions,
): Promise<RunResult | 'files_added' | 'manifest_edited'> {
  const { record, manifest, baseDir, slices, allowed } = prepared;
  const ledger = toEpochLedger(manifest, runtime);
  const signal = AbortSignal.any([stop, runtime.failed]);
  const queue = await raceAbort(runtime.openQueue(record.id), signal);
  const producer = { produces: record.name };
  const workers = await (importHere ? runtime.startWorkers(producer) : runtime.startSliceWorker(producer));
  let closing: Promise<unknown> | undefined;
  const close = () => {
    closing ??= workers.close();
    return closing;
  };
  // At once, and not when the run has ended: each of both may have to wait for what does not answer.
  if (signal.aborted) void close();
  else signal.addEventListener('abort', close, { once: true });
  try {
    const { staging, redis, log, now } = runtime;
    const end = await runMigration(
      record,
      {
        manifest,
        baseDir,
        ...ledger,
        ...(acceptRefusals ? { acceptRefusals } : {}),
      },
      slices,
      { kind: cause },
      {
        staging,
        redis,
        queue,
        log,
        now,
        signal,
        onStatus: onStatus ?? (() => {}),
        budget: toBudget(manifest),
        watchRedis: (listener) => runtime.watchRedis(listener),
        watchStorage: (listener) => runtime.watchStorage(listener),
        volume: allowed.volume && { ...allowed.volume, toMap: createPinnedMap(record, manifest, runtime) },
        tooManyRejects: prepared.tooManyRejects,
        persons: {
          hold: manifest.persons === 'hold',
          destination: toLedgerDestination(manifest),
          resolveLedger: () => resolveLedger(manifest, runtime),
          acceptRefusals,
        },
        startStaging: (feed) =>
          runtime.startStaging({
            migration: record,
            files: slices.filter(({ location }) => location === 'producer'),
            onPart: (part) => feed.add(part),
          }),
      },
    );
    return toResult(prepared, end);
  } catch (error) {
    if (error instanceof FilesAddedError) return 'files_added';
    if (error instanceof ManifestEditedError) return 'manifest_edited';
    throw error;
  } finally {
    signal.removeEventListener('abort', close);
    await Promise.all([close(), queue.close()]);
  }
}

function toBudget({ limits }: Prepared['manifest']): Budget | undefined {
  const { eventsPerMinute, requestsInFlight, batch } = limits;
  if (eventsPerMinute === undefined) return undefined;
  return { eventsPerMinute, eventsInFlight: requestsInFlight * batch.events };
}

/** The map that workers use, to count what they would send. */
function createPinnedMap(
  record: Prepared['record'],
  manifest: Prepared['manifest'],
  { env }: Pick<MigrationRuntime, 'env'>,
): (part: PartMeta) => ImportMap {
  const version = readPinnedVersion(record.mapping, manifest.source.type);
  const map = createManifestMap(manifest, { version, hashKey: readHashKey(manifest, env) });
  return (part) => limitToStored(map, findLatest(record, part));
}

function toResult(prepared: Prepared, { report, failures }: RunEnd): RunResult {
  const migration = prepared.record.name;
  if (failures.length > 0) return { kind: 'failed', migration, report, failures };
  if (!report.balanced) return { kind: 'unbalanced', migration, report };
  // Nobody sends these again, so the end is no success, although the operator accepted it.
  const wasRefused = report.people.refusedCount > 0;
  if (wasRefused || prepared.tooManyRejects(report.counts))
    return { kind: 'rejects_above_threshold', migration, report };
  return { kind: 'finished', migration, report };
}

/** Before a migration is run, only what is down or refused is a result. */
export async function orInterrupted<T>(
  { failed }: MigrationRuntime,
  migration: string,
  work: () => Promise<T>,
): Promise<T | Interruption> {
  try {
    return await work();
  } catch (error) {
    return toInterruption(error, { migration, begun: false, failed });
  }
}

/** Why control says that a migration is held; staging may be what is down. */
async function loadReason({ staging }: MigrationRuntime, name: string, error: unknown): Promise<string> {
  if (!(error instanceof ControlError)) return '';
  return (await loadControl(staging, name).catch(() => undefined))?.reason ?? '';
}
