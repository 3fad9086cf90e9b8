import { existsSync } from 'node:fs';
import { findMissingKey, parseStoredManifest } from '../../../config/manifest/load-manifest.ts';
import { getMessage, UnableError, UnavailableError } from '../../lib/errors.ts';
import type { SourceBlock, SourceSlice } from '../../sources/source.ts';
import { loadControl } from '../../state/control.ts';
import { loadMigration, type MigrationRecord } from '../../state/migrations.ts';
import { addRun, loadLastRun, type ScheduledRun } from '../../state/schedules/runs.ts';
import { loadNewestSchedule, type Schedule } from '../../state/schedules/schedules.ts';
import { decideStored, RefusedError } from '../life-store.ts';
import type { ManifestAt } from '../manifest/stored-manifest.ts';
import type { MigrationRuntime } from '../migration-runtime.ts';
import { StartedMeanwhileError } from '../prepare/create-record.ts';
import { findFiles, loadStagedFiles } from '../prepare/find-sources.ts';
import { prepareMigration } from '../prepare/prepare.ts';
import { isLeased } from '../run/standing.ts';
import { orInterrupted, type RunOptions, type RunResult, runPrepared } from '../start.ts';
import { whileClaimed } from './claim.ts';
import { type Due, findDue } from './find-due.ts';
import { createSettling, type Settling } from './settling.ts';
import { noteUnable, UnableToRunError } from './unable.ts';

export interface RunScheduleOptions
  extends Pick<RunOptions, 'signal' | 'importHere' | 'onBegin' | 'onStatus'> {
  /** Runs it although nothing is due. @default false */
  readonly now?: boolean;
}

export type ScheduleResult =
  /** There is no active schedule, or another process ran it meanwhile. */
  | { readonly kind: 'not_due' }
  /** Another run of it is under way, and takes in what is due. */
  | { readonly kind: 'under_way'; readonly reason: string }
  /** This process was told to end; what is left is due still. */
  | { readonly kind: 'stopped'; readonly reason: string }
  | { readonly kind: 'ran'; readonly run: ScheduledRun; readonly result: TopUpResult | undefined };

type TopUpResult =
  | RunResult
  | { readonly kind: 'nothing_new'; readonly migration: string; readonly reason: string };

/**
 * One run of a schedule: takes in what is new in the source since whatever was taken in before, not since the last
 * run, so that runs that were missed, that failed or that overlap cost nothing. What it came to is kept in staging.
 *
 * Throws UnableToRunError where this process cannot run the migration, but others may: it lacks a key, the bundled API or
 * the folder of the manifest. Throws UnavailableError where staging cannot be used.
 */
export async function runSchedule(
  runtime: MigrationRuntime,
  name: string,
  options: RunScheduleOptions,
): Promise<ScheduleResult> {
  try {
    return await whileClaimed(runtime, name, () => runClaimed(runtime, name, options));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return { kind: 'under_way', reason: error.message };
  }
}

async function runClaimed(
  runtime: MigrationRuntime,
  name: string,
  options: RunScheduleOptions,
): Promise<ScheduleResult> {
  const { staging, now } = runtime;
  const { schedule } = await loadNewestSchedule(staging, name);
  if (schedule === undefined || schedule.state === 'removed') return { kind: 'not_due' };
  const last = await loadLastRun(staging, name);
  const startedAt = now();
  const found = schedule.state === 'active' ? findDue(schedule, last.run, startedAt) : undefined;
  const due = found ?? (options.now ? { due: startedAt, first: startedAt, missed: 0 } : undefined);
  if (due === undefined) return { kind: 'not_due' };

  const times = { now: startedAt, lagMs: schedule.lagMinutes * 60_000 };
  const settling = createSettling(times, last.run?.ahead);
  const toppedUp = await topUp(runtime, { schedule, name, settling }, options).catch(
    async (error: unknown) => {
      if (error instanceof UnableToRunError && found) await noteUnable(runtime, name, schedule, error);
      throw error;
    },
  );
  const { result, files, continued, problem } = toppedUp;
  if (result?.kind === 'stopped') return { kind: 'stopped', reason: result.reason };
  const { outcome, reason } = result
    ? toOutcome(result, continued)
    : { outcome: 'failed' as const, reason: problem };
  const write = async (): Promise<ScheduledRun> => {
    for (;;) {
      const before = await loadLastRun(staging, name);
      const failedBefore = before.run?.failures ?? 0;
      const isBusy = outcome === 'busy';
      const times = toTimes(due, startedAt, now());
      const isGood = outcome === 'done' || outcome === 'nothing_new';
      const succeededAt = isGood ? times.endedAt : before.run?.succeededAt;
      const run = {
        ...times,
        // What runs it now may be the run that seems missed, and says itself whether it failed.
        ...(isBusy ? { missed: 0 } : {}),
        outcome,
        reason,
        files,
        failures: outcome === 'failed' ? failedBefore + 1 : isBusy ? failedBefore : 0,
        ...(succeededAt === undefined ? {} : { succeededAt }),
        ...settling.listLeft(),
      };
      if (await addRun(staging, name, { number: before.number + 1, run })) return run;
    }
  };
  return { kind: 'ran', run: await write(), result };
}

const toTimes = ({ due, missed }: Due, startedAt: Date, endedAt: Date) => ({
  due: due.toISOString(),
  missed,
  startedAt: startedAt.toISOString(),
  endedAt: endedAt.toISOString(),
});

interface ToppedUp {
  /** Undefined where it failed before anything could run. */
  readonly result: TopUpResult | undefined;
  readonly files: number;
  /** Whether an earlier run had begun with files and had not ended with them. */
  readonly continued: boolean;
  readonly problem: string;
}

/** A failure of any kind is what the run came to: the next one begins all the same. */
async function topUp(
  runtime: MigrationRuntime,
  {
    schedule,
    name,
    settling,
  }: { readonly schedule: Schedule; readonly name: string; readonly settling: Settling },
  options: RunScheduleOptions,
): Promise<ToppedUp> {
  let files = 0;
  let continued = false;
  try {
    const { manifest, baseDir } = toManifestAt(runtime, schedule);
    const known = await loadMigration(runtime.staging, name);
    const isSettled = (file: SourceSlice) => settling.isSettled(file);
    const prepared = await orInterrupted(runtime, name, async () => {
      const control = await loadControl(runtime.staging, name);
      if (known) await decideStored(runtime.staging, name, { kind: 'top_up' }, control);
      const wait = known ? undefined : await explainWait(runtime, { manifest, baseDir }, isSettled);
      if (wait !== undefined) return nothingNew(name, wait);
      // A producer knows the files that it began with: what is new is for the next run.
      if (known && (await isLeased(runtime.redis, known.id))) return { ...BUSY, migration: name };
      // One that was begun since has its files: what is new beside them is for the next run.
      const ready = await prepareMigration(runtime, { manifest, baseDir }, known ? 'take' : 'leave', {
        isSettled,
        allowEmpty: true,
      });
      files = ready.record.files.length - (known?.files.length ?? 0);
      const isDone = control?.state === 'finished' && files === 0;
      if (isDone && (await isAllStaged(runtime, ready.record))) return nothingNew(name);
      continued = known !== undefined && (isDone || control?.state !== 'finished');
      return ready;
    });
    if ('kind' in prepared) return { result: prepared, files, continued, problem: '' };
    return {
      result: await runPrepared(runtime, prepared, known ? 'top_up' : 'run', options),
      files,
      continued,
      problem: '',
    };
  } catch (error) {
    if (error instanceof UnableError) throw error;
    if (options.signal.aborted)
      return { result: stopped(name, options.signal), files, continued, problem: '' };
    if (error instanceof UnavailableError) throw error;
    if (error instanceof StartedMeanwhileError)
      return { result: { ...BUSY, migration: name }, files: 0, continued, problem: '' };
    return { result: undefined, files, continued, problem: getMessage(error) };
  }
}

const BUSY = {
  kind: 'refused',
  refusal: 'already_running',
  reason: 'another process runs the migration; what is new is for the next run',
} as const;

const nothingNew = (migration: string, reason = '') => ({ kind: 'nothing_new', migration, reason }) as const;

const stopped = (migration: string, { reason }: AbortSignal) =>
  ({ kind: 'stopped', migration, reason: getMessage(reason) }) as const;

/** Throws UnableToRunError where this process cannot do what others may be able to. */
function toManifestAt(runtime: MigrationRuntime, schedule: Schedule): ManifestAt {
  const { baseDir } = schedule;
  const manifest = parseStoredManifest(schedule.manifest, runtime.staging.location);
  const { name } = manifest;
  const missing = findMissingKey(manifest, runtime.env);
  if (missing)
    throw new UnableToRunError(
      `this process has no key for the schedule of migration "${name}": ${missing.message}`,
      `no process has its key: set ${missing.variable} in serve or the workers`,
    );
  if (manifest.destination === undefined && runtime.bundled === undefined)
    throw new UnableToRunError(`this process has no bundled API for the schedule of migration "${name}"`);
  if (isOfFolder(manifest.source) && !existsSync(baseDir))
    throw new UnableToRunError(`the schedule of migration "${name}" is of ${baseDir}, which is not there`);
  return { manifest, baseDir };
}

const isOfFolder = ({ from }: SourceBlock): boolean =>
  Array.isArray(from) && from.some((place) => !String(place).startsWith('s3://'));

/** Why a migration is not created yet, if it is not: of no file, it would be one without headers to check. */
async function explainWait(
  runtime: MigrationRuntime,
  { manifest, baseDir }: ManifestAt,
  isSettled: (file: SourceSlice) => boolean,
): Promise<string | undefined> {
  const found = await findFiles(runtime, { manifest, baseDir }, { allowEmpty: true });
  if (found.length === 0) return 'the source holds nothing yet';
  // Those that wait are in the note of the run.
  return found.filter(isSettled).length > 0 ? undefined : '';
}

/** Files that were entered by a producer that was killed before it staged them. */
async function isAllStaged({ staging }: MigrationRuntime, record: MigrationRecord): Promise<boolean> {
  const staged = await loadStagedFiles(staging, record);
  return record.files.every(({ fileId }) => staged.has(fileId));
}

type Outcome = Pick<ScheduledRun, 'outcome' | 'reason'>;

function toOutcome(result: Exclude<TopUpResult, { kind: 'stopped' }>, continued: boolean): Outcome {
  switch (result.kind) {
    case 'finished':
      return { outcome: 'done', reason: continued ? 'continued what an earlier run had begun' : '' };
    case 'rejects_above_threshold':
      return { outcome: 'done', reason: 'more records were rejected than the manifest allows' };
    case 'nothing_new':
      return { outcome: 'nothing_new', reason: result.reason };
    case 'failed':
      return {
        outcome: 'failed',
        reason: result.failures.map(({ work, reason }) => `${work.name} ${work.id}: ${reason}`)[0] ?? '',
      };
    case 'unbalanced':
      return { outcome: 'failed', reason: `the books do not balance: ${result.report.problems[0] ?? ''}` };
    case 'held':
      return { outcome: 'held', reason: result.reason || `the migration is ${result.state}` };
    case 'superseded':
      return { outcome: 'busy', reason: result.reason };
    case 'refused':
      return { outcome: result.refusal === 'already_running' ? 'busy' : 'held', reason: result.reason };
    case 'unavailable':
    case 'approval_needed':
      return { outcome: 'failed', reason: result.reason };
  }
}
