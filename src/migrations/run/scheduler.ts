import { raceAbort } from '../../lib/async/abort.ts';
import type { QueuedWork, SettledState, Work, WorkEvent, WorkQueue } from './work-queue.ts';

/** How long an open job may go without an event before its state is loaded. */
const CHECK_AFTER_MS = 5_000;
const TICK_MS = 1_000;
/** Work that is handed back again and again is offered more and more slowly. */
const getOfferDelayMs = (generation: number) =>
  generation < 3 ? 0 : Math.min(30_000, 100 * 2 ** generation);

export interface SchedulerDeps {
  readonly queue: WorkQueue;
  /** Jobs open at once: enough to keep workers busy, few enough to keep Redis small. */
  readonly windowSize: number;
  /** Makes job ids of this epoch, so that retained jobs of an older one never swallow a new job. */
  readonly makeJobId: (work: Work, generation: number) => string;
  /** Throws when the run must stop: paused, cancelled, superseded, Redis wiped. */
  readonly assertRunning: () => Promise<void>;
  /** The same from staging: Redis may not hold yet what workers have read there already. */
  readonly assertNotHeld: () => Promise<void>;
  /** `again` when staging does not hold what the job reported as done. */
  readonly onSettled: (work: Work) => Promise<'settled' | 'again'>;
  readonly onProgress: (work: Work, progress: unknown) => void;
  /** Called where the queue of jobs that are silent gives out none, and once it does again: `why` is undefined then. @default nothing */
  readonly onHold?: (name: string, why: string | undefined) => void;
  readonly signal: AbortSignal;
}

export interface Failure {
  readonly work: Work;
  readonly reason: string;
}

interface Open {
  readonly work: Work;
  readonly generation: number;
  lastEventAtMs: number;
}

/**
 * Keeps a window of work open until the source ends and everything is settled. Work that was handed back is
 * offered again. Work that failed for good is returned, and does not stop the rest.
 */
export async function runScheduler(source: AsyncIterable<Work>, deps: SchedulerDeps): Promise<Failure[]> {
  const open = new Map<string, Open>();
  const failures: Failure[] = [];
  const inbox: WorkEvent[] = [];
  let wake = () => {};
  const stopListening = deps.queue.listen((event) => {
    inbox.push(event);
    wake();
  });

  // A queue whose Redis is gone waits for ever; an operator who stops the run must not have to.
  const unlessStopped = <T>(promise: Promise<T>): Promise<T> => raceAbort(promise, deps.signal);

  const offer = async (work: Work, generation: number) => {
    const jobId = deps.makeJobId(work, generation);
    const rank = open.size + 1;
    open.set(jobId, { work, generation, lastEventAtMs: performance.now() });
    const queued: QueuedWork = { ...work, jobId, delayMs: getOfferDelayMs(generation), rank };
    await unlessStopped(deps.queue.add([queued]));
  };

  const settle = async (jobId: string, state: SettledState) => {
    const entry = open.get(jobId);
    if (!entry) return;
    open.delete(jobId);
    if (state.kind === 'failed') return void failures.push({ work: entry.work, reason: state.reason });
    if (state.kind === 'done' && (await deps.onSettled(entry.work)) === 'settled') return;
    await unlessStopped(deps.assertRunning());
    await unlessStopped(deps.assertNotHeld());
    return offer(entry.work, entry.generation + 1);
  };

  const handleEvents = async () => {
    for (let event = inbox.shift(); event; event = inbox.shift()) {
      const entry = open.get(event.jobId);
      if (!entry) continue;
      entry.lastEventAtMs = performance.now();
      if (event.kind === 'progress') deps.onProgress(entry.work, event.progress);
      else await settle(event.jobId, event.state);
    }
  };

  /** Queues that give out no jobs, such as one that was paused by hand. */
  const held = new Map<string, string>();
  const lookForHold = async (name: string) => {
    const why = await unlessStopped(deps.queue.findHold(name));
    if (why === held.get(name)) return;
    if (why === undefined) held.delete(name);
    else held.set(name, why);
    deps.onHold?.(name, why);
  };

  const checkSilentJobs = async () => {
    const now = performance.now();
    const silent = new Set(held.keys());
    for (const [jobId, entry] of open) {
      if (now - entry.lastEventAtMs < CHECK_AFTER_MS) continue;
      const state = await unlessStopped(deps.queue.state(entry.work.name, jobId));
      entry.lastEventAtMs = performance.now();
      if (state.kind === 'missing') await settle(jobId, { kind: 'handed_back', why: 'not in the queue' });
      else if (state.kind !== 'open') await settle(jobId, state);
      else silent.add(entry.work.name);
    }
    for (const name of silent) await lookForHold(name);
  };

  const onAbort = () => wake();
  deps.signal.addEventListener('abort', onAbort, { once: true });

  // By the clock, not by silence: busy workers report all the time, and the lease must be renewed.
  let tickedAtMs = performance.now();
  const tickWhenDue = async () => {
    if (performance.now() - tickedAtMs < TICK_MS) return;
    await unlessStopped(deps.assertRunning());
    await checkSilentJobs();
    tickedAtMs = performance.now();
  };

  const iterator = source[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<Work>> | undefined;
  let arrived: IteratorResult<Work> | undefined;
  let failure: unknown;
  let ended = false;
  const pull = () => {
    next ??= iterator.next();
    next.then(
      (result) => {
        arrived = result;
        wake();
      },
      (error: unknown) => {
        failure = error ?? new Error('the source of work failed');
        wake();
      },
    );
  };

  try {
    for (;;) {
      deps.signal.throwIfAborted();
      if (failure) throw failure;
      await handleEvents();
      await tickWhenDue();
      if (arrived) {
        const result: IteratorResult<Work> = arrived;
        arrived = undefined;
        next = undefined;
        if (result.done) ended = true;
        else await offer(result.value, 0);
      }
      if (ended && open.size === 0) return failures;
      if (!ended && !next && open.size < deps.windowSize) pull();
      if (inbox.length > 0 || arrived) continue;

      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, TICK_MS);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (inbox.length > 0 || arrived || failure || deps.signal.aborted) wake();
      });
      wake = () => {};
    }
  } finally {
    stopListening();
    deps.signal.removeEventListener('abort', onAbort);
    for (const name of held.keys()) deps.onHold?.(name, undefined);
  }
}
