import type { Redis } from 'ioredis';
import type { RecordCounts, Tally } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { endWithin, raceAbort } from '../../lib/async/abort.ts';
import { settleWithin } from '../../lib/async/timeout.ts';
import { ConfigError, FencedOutError, getMessage, StopError } from '../../lib/errors.ts';
import type { Logger } from '../../lib/logger.ts';
import { explainLoss } from '../../lib/redis/eviction-policy.ts';
import { dropSpareBuffers } from '../../lib/spare-buffers.ts';
import type { StagedSlice } from '../../pipeline/stage/slice-groups.ts';
import { listCheckpoints, mirrorControl } from '../../state/checkpoints.ts';
import { encodeDocument } from '../../state/document.ts';
import type { EpochOpening } from '../../state/epochs.ts';
import { layout } from '../../state/keys/migration.ts';
import type { MigrationRecord } from '../../state/migrations.ts';
import { removeOfOlderEpochs } from '../../state/numbered.ts';
import { keepProgressNote, loadProgressNote, type Progress } from '../../state/progress-note.ts';
import { applyEvent } from '../life-store.ts';
import type { MigrationQueue } from '../migration-runtime.ts';
import { loadPersons } from '../persons/load-persons.ts';
import type { VolumeRule } from '../prepare/preflight.ts';
import { isHeldWithOrigin } from '../rejects/held-with-origin.ts';
import { buildReport } from '../report/build-report.ts';
import { loadBooks } from '../report/load-books.ts';
import type { Report } from '../report/report.ts';
import { type CountEventsInput, countAccepted, countEvents } from './count-events.ts';
import { createPartFeed, type PartFeed, stageAndImport } from './import-phase.ts';
import { type AcquiringEvent, acquireLease, type Lease, RedisWipedError } from './lease.ts';
import type { PersonsRun, PersonsSettings } from './persons/persons-run.ts';
import { sendPersons } from './persons/send-persons.ts';
import { foldRepeats } from './repeats-phase.ts';
import { type RunStatus, StatusBoard } from './run-status.ts';
import type { Failure } from './scheduler.ts';
import { addThroughput } from './throughput.ts';
import type { Budget } from './time-left.ts';
import type { Work } from './work-queue.ts';

/** Jobs open at once in a migration. */
const WINDOW = 32;
const REDIS_WITHIN_MS = 1_000;
const FORGET_WITHIN_MS = 5_000;
/** Staging or Redis may hang: an operator who stops the run must not have to wait for either. */
const END_WITHIN_MS = 10_000;
const NOTE_WITHIN_MS = 2_000;

export interface RunDeps {
  readonly staging: Staging;
  readonly redis: Redis;
  readonly queue: MigrationQueue;
  readonly log: Logger;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly onStatus: (status: RunStatus) => void;
  /** That of the destination; undefined where nothing limits the events. */
  readonly budget: Budget | undefined;
  /** See MigrationRuntime. */
  readonly watchRedis: (listener: (trouble: string | undefined) => void) => () => void;
  readonly watchStorage: RunDeps['watchRedis'];
  readonly volume: (VolumeRule & { readonly toMap: CountEventsInput['toMap'] }) | undefined;
  /** What a rejected record says may forbid a merge: where there are too many, persons are held. */
  readonly tooManyRejects: (counts: RecordCounts) => boolean;
  readonly persons: PersonsSettings;
  /** Starts this producer's own worker for `stage-file` jobs. */
  readonly startStaging: (feed: PartFeed) => Promise<{ close(): Promise<void> }>;
}

/** The sample promised far fewer events than are staged: they are counted before more is sent. */
class VolumeUnknownError extends Error {}

export interface RunEnd {
  readonly report: Report;
  /** Files, parts and bucket ranges that failed for good; empty when the migration is finished. */
  readonly failures: readonly Failure[];
}

/**
 * Runs one migration to its end: stage, import, persons, report. All it knows it reads from staging, so that
 * it can be killed anywhere and started again; when Redis loses its memory meanwhile, it acquires the lease
 * again and continues from the receipts (I4). A run that ends early leaves the reason in control.
 */
export async function runMigration(
  record: MigrationRecord,
  opening: EpochOpening,
  slices: readonly StagedSlice[],
  cause: AcquiringEvent,
  deps: RunDeps,
): Promise<RunEnd> {
  let countFirst = deps.volume?.countFirst ?? false;
  for (let event = cause; ; ) {
    const board = new StatusBoard(deps.onStatus, {
      budget: deps.budget,
      nowMs: () => performance.now(),
    });
    const watching = [
      deps.watchRedis((trouble) =>
        board.setWaitingFor(trouble === undefined ? undefined : `Redis: ${trouble}`),
      ),
      deps.watchStorage((trouble) => board.setStorageTrouble(trouble)),
    ];
    const unwatch = () => {
      for (const stop of watching) stop();
    };
    const lease = await acquireOrStop(record, opening, event, deps).catch((error: unknown) => {
      unwatch();
      throw error;
    });
    try {
      const epoch = runEpoch(record, slices, lease, board, { ...deps, countFirst });
      return await endWithin(epoch, deps.signal, END_WITHIN_MS);
    } catch (error) {
      if (error instanceof VolumeUnknownError) {
        countFirst = true;
        event = { kind: 'resume' };
        continue;
      }
      if (!(error instanceof RedisWipedError)) {
        if (!(error instanceof FencedOutError)) await noteStopped(record, lease, toNote(error), deps);
        throw error;
      }
      event = { kind: 'redis_wiped', epoch: lease.epoch };
      void explainLoss(deps.redis).then((loss) =>
        deps.log.warn({ migration: record.name }, `${loss}; continuing from what staging holds`),
      );
    } finally {
      unwatch();
      // Redis may be what is missing: a lease that cannot be released expires.
      await settleWithin(lease.release(), REDIS_WITHIN_MS);
    }
  }
}

/** Redis may be away or full: an operator who stops the run must not have to wait for it. */
async function acquireOrStop(
  record: MigrationRecord,
  opening: EpochOpening,
  event: AcquiringEvent,
  deps: RunDeps,
): Promise<Lease> {
  const acquiring = acquireLease(record, opening, event, deps);
  try {
    return await raceAbort(acquiring, deps.signal);
  } catch (error) {
    if (deps.signal.aborted) void acquiring.then((late) => late.release()).catch(() => {});
    throw error;
  }
}

async function runEpoch(
  record: MigrationRecord,
  slices: readonly StagedSlice[],
  lease: Lease,
  board: StatusBoard,
  deps: RunDeps & { readonly countFirst: boolean },
): Promise<RunEnd> {
  const { staging, queue, signal, now, countFirst } = deps;
  const { epoch } = lease;
  // Redis may be away for good, as one is whose owner has ended: an answer is waited for only until the run is told to end.
  const assertRunning = () => raceAbort(lease.assertRunning(), signal);
  const run: PersonsRun = {
    record,
    epoch,
    staging,
    redis: deps.redis,
    log: deps.log,
    now,
    board,
    begun: await raceAbort(loadBegun(deps.redis, record), signal),
    assertVolume() {
      if (!countFirst && deps.volume && board.getStatus().staged >= deps.volume.half)
        throw new VolumeUnknownError('more records are staged than the sample promised');
    },
    persons: deps.persons,
    schedulerDeps: {
      queue,
      windowSize: WINDOW,
      makeJobId: createJobIds(record, epoch),
      assertRunning,
      assertNotHeld: () => lease.assertNotHeld(),
      onHold: (jobs, why) => board.setHold(jobs, why),
      signal,
    },
  };

  await assertRunning();
  const before = await loadProgressNote(staging, record).catch(() => undefined);
  await removeOfOlderEpochs(staging, record, epoch);
  board.setPhase('stage');
  const toNote = createNotes(before, deps);
  const note = keepProgressNote(staging, { name: record.name, id: record.id, epoch }, () =>
    toNote(board.getStatus()),
  );
  const feed = createPartFeed((part) => board.addPart(part.records));
  const judgeVolume = () => assertCounted(record, lease, board, deps);
  const stager = await deps.startStaging(feed);
  const failures: Failure[] = [];
  const importAll = async (): Promise<Report> => {
    try {
      failures.push(...(await stageAndImport(run, slices, feed, countFirst ? judgeVolume : undefined)));
    } finally {
      await stager.close();
    }
    const books = await loadBooks(staging, record, { willFold: true });
    const report = buildReport({ ...books, failures: failures.map(describe), isOver: true });
    // What is lost may be the very fact that forbids a merge, and a merge cannot be undone.
    if (failures.length > 0 || !report.balanced) {
      dropSpareBuffers();
      return report;
    }
    const repeats = await foldRepeats(run).finally(dropSpareBuffers);
    board.setPhase('people');
    const { counts } = buildReport({ ...books, repeats, failures: [], isOver: true });
    const hold = run.persons.hold || deps.tooManyRejects(counts) || (await isHeldWithOrigin(staging, record));
    failures.push(...(await sendPersons({ ...run, persons: { ...run.persons, hold } })));
    const persons = failures.length === 0 ? { persons: await loadPersons(staging, record.name) } : {};
    return buildReport({ ...books, repeats, ...persons, failures: failures.map(describe), isOver: true });
  };
  const report = await importAll().finally(() => note.close());
  board.setPhase('report');
  await assertRunning();
  await staging.put(layout(record.name).report(epoch, record.id), encodeDocument(report));
  if (failures.length > 0) await noteStopped(record, lease, `${failures.length} failed for good`, deps);
  else if (!report.balanced) await noteStopped(record, lease, explainImbalance(report), deps);
  else {
    await applyEvent(staging, record, { kind: 'finish', epoch }, { reason: '', at: now().toISOString() });
    // Nothing of a finished migration stays in Redis for ever.
    const forgotten = [lease.finish(), queue.forget(toJobIdPrefix(record))];
    await settleWithin(Promise.allSettled(forgotten), FORGET_WITHIN_MS);
  }
  return { report, failures };
}

/** Parts that a run before this one was at, and how far it was. */
async function loadBegun(redis: Redis, { id }: MigrationRecord): Promise<ReadonlyMap<string, Tally>> {
  const begun = new Map<string, Tally>();
  for await (const { checkpoint } of listCheckpoints(redis, id)) begun.set(checkpoint.part, checkpoint.tally);
  return begun;
}

/** Counts every event that is staged, and throws PreflightError where they are more than is allowed. */
async function assertCounted(
  record: MigrationRecord,
  lease: Lease,
  board: StatusBoard,
  { staging, signal, volume }: RunDeps,
): Promise<void> {
  if (!volume) return;
  board.setPhase('count');
  const events = await countEvents({
    staging,
    record,
    records: board.getStatus().staged,
    toMap: volume.toMap,
    async onPart(partsDone) {
      signal.throwIfAborted();
      await raceAbort(lease.assertRunning(), signal);
      board.countedParts = partsDone;
      board.changed();
    },
  });
  volume.assertEvents(events, await countAccepted(staging, record.name));
}

/** Notes of one epoch. The throughput continues that of the one before. */
function createNotes(
  before: Progress | undefined,
  { budget, now }: Pick<RunDeps, 'budget' | 'now'>,
): (status: RunStatus) => Progress {
  let throughput = before?.throughput;
  return ({ counts, events, phase, speed, waitingFor, personJobs }) => {
    throughput = addThroughput(throughput, { atMs: now().getTime(), events });
    return {
      ...counts,
      phase,
      recordsPerSecond: Math.round(speed.recordsPerSecond),
      ...(speed.secondsLeft === undefined ? {} : { secondsLeft: Math.round(speed.secondsLeft) }),
      ...(waitingFor === undefined ? {} : { waitingFor }),
      events,
      heldByBudget: phase === 'import' && speed.heldByBudget,
      ...(budget === undefined ? {} : { eventsPerMinute: budget.eventsPerMinute }),
      ...(personJobs.total === 0 ? {} : { personJobs }),
      throughput,
    };
  };
}

const toNote = (error: unknown): string =>
  error instanceof StopError ? error.note : (getMessage(error).split('\n')[0] ?? '');

const describe = ({ work, reason }: Failure) => ({ what: `${work.name} ${work.id}`, reason });

const explainImbalance = ({ problems }: Report) => `the books do not balance: ${problems[0] ?? ''}`;

/**
 * For `status`, and for the workers of the fleet, which leave what is open to whoever resumes. The lifecycle
 * keeps what control says of a pause or of a newer epoch.
 */
async function noteStopped(
  { id, name }: MigrationRecord,
  { epoch }: Lease,
  reason: string,
  { staging, redis, now }: RunDeps,
): Promise<void> {
  const note = async () => {
    const event = { kind: 'stop', epoch } as const;
    const entered = await applyEvent(staging, { id, name }, event, { reason, at: now().toISOString() });
    if (entered.kind !== 'enter') return;
    await settleWithin(mirrorControl(redis, id, entered), REDIS_WITHIN_MS);
  };
  const makeRoom = async (error: unknown) => {
    if (!(error instanceof ConfigError)) throw error;
    // A full disk has room for this once a document is gone that only informs.
    await staging.remove(layout(name).progress(epoch, id));
    await note();
  };
  // Staging may be what is down; the run ends all the same.
  await settleWithin(note().catch(makeRoom), NOTE_WITHIN_MS);
}

const toJobIdPrefix = ({ name, id }: MigrationRecord) => `${name}_${id.slice(0, 8)}`;

/** Epoch and generation make every offer a new job: BullMQ ignores an id that it still keeps. */
const createJobIds = (record: MigrationRecord, epoch: number) => (work: Work, generation: number) =>
  [toJobIdPrefix(record), work.name, work.id.replaceAll('/', '-'), `e${epoch}`, `g${generation}`].join('_');
