import { describe, expect, it, vi } from 'vitest';
import { runScheduler, type SchedulerDeps } from '../../../src/migrations/run/scheduler.ts';
import type {
  QueuedWork,
  SettledState,
  Work,
  WorkEvent,
  WorkQueue,
  WorkState,
} from '../../../src/migrations/run/work-queue.ts';

/** A queue in memory that keeps to the port's contract; the test decides when and how jobs end. */
function createMemoryQueue() {
  const listeners = new Set<(event: WorkEvent) => void>();
  const states = new Map<string, WorkState>();
  const added: QueuedWork[] = [];
  let onAdd: (work: QueuedWork) => void = () => {};
  const queue: WorkQueue = {
    async add(work) {
      for (const item of work) {
        added.push(item);
        states.set(item.jobId, { kind: 'open' });
        onAdd(item);
      }
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async state(_, jobId) {
      return states.get(jobId) ?? { kind: 'missing' };
    },
    findHold: async () => undefined,
  };
  const settle = (jobId: string, state: SettledState) => {
    states.set(jobId, state);
    for (const listener of listeners) listener({ kind: 'settled', jobId, state });
  };
  return {
    queue,
    added,
    settle,
    /** Jobs whose end no event tells, by id; one that is not here has vanished. */
    states,
    listeners,
    whenAdded: (listener: (work: QueuedWork) => void) => {
      onAdd = listener;
    },
  };
}

const work = (count: number): Work[] =>
  Array.from({ length: count }, (_, i) => ({ id: String(i), name: 'import-part', payload: {} }));

async function* each<T>(items: readonly T[]) {
  yield* items;
}

function depsWith(queue: WorkQueue, overrides: Partial<SchedulerDeps> = {}): SchedulerDeps {
  return {
    queue,
    windowSize: 3,
    makeJobId: ({ id }, generation) => `${id}_g${generation}`,
    assertRunning: async () => {},
    assertNotHeld: async () => {},
    onSettled: async () => 'settled',
    onProgress: () => {},
    signal: new AbortController().signal,
    ...overrides,
  };
}

describe('the scheduler', () => {
  it('never has more jobs open than its window and settles all of them', async () => {
    const memory = createMemoryQueue();
    let open = 0;
    let most = 0;
    const settled: string[] = [];
    memory.whenAdded(({ jobId }) => {
      open += 1;
      most = Math.max(most, open);
      setImmediate(() => {
        open -= 1;
        memory.settle(jobId, { kind: 'done' });
      });
    });
    const failures = await runScheduler(
      each(work(25)),
      depsWith(memory.queue, {
        onSettled: async ({ id }) => {
          settled.push(id);
          return 'settled';
        },
      }),
    );
    expect(failures).toEqual([]);
    expect(most).toBe(3);
    expect(settled).toHaveLength(25);
    expect(memory.listeners.size).toBe(0);
  });

  it('offers work that was handed back again under a new job id', async () => {
    const memory = createMemoryQueue();
    memory.whenAdded(({ jobId }) =>
      setImmediate(() =>
        memory.settle(
          jobId,
          jobId === '0_g0' ? { kind: 'handed_back', why: 'worker left' } : { kind: 'done' },
        ),
      ),
    );
    await runScheduler(each(work(1)), depsWith(memory.queue));
    expect(memory.added.map(({ jobId }) => jobId)).toEqual(['0_g0', '0_g1']);
  });

  it('offers work again when staging does not show what its job said it did', async () => {
    const memory = createMemoryQueue();
    memory.whenAdded(({ jobId }) => setImmediate(() => memory.settle(jobId, { kind: 'done' })));
    let looks = 0;
    const onSettled = async () => {
      looks += 1;
      return looks < 3 ? ('again' as const) : ('settled' as const);
    };
    await runScheduler(each(work(1)), depsWith(memory.queue, { onSettled }));
    expect(memory.added.map(({ jobId }) => jobId)).toEqual(['0_g0', '0_g1', '0_g2']);
  });

  describe('asks the queue about a job that it hears nothing of, and', () => {
    /** Runs one piece of work; `silent` is what the queue holds of its first job, whose end no event tells. */
    async function runSilent(silent: WorkState | undefined) {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      try {
        const memory = createMemoryQueue();
        const settled: string[] = [];
        memory.whenAdded(({ jobId }) => {
          if (jobId === '0_g1') return memory.settle(jobId, { kind: 'done' });
          if (silent) memory.states.set(jobId, silent);
          else memory.states.delete(jobId);
        });
        const onSettled = async ({ id }: Work) => {
          settled.push(id);
          return 'settled' as const;
        };
        const stop = new AbortController();
        const run = runScheduler(each(work(1)), depsWith(memory.queue, { onSettled, signal: stop.signal }));
        const ended = run.catch((error: unknown) => error);
        await vi.advanceTimersByTimeAsync(4_000);
        const early = memory.added.length + settled.length;
        await vi.advanceTimersByTimeAsync(8_000);
        stop.abort('not ended');
        return { early, added: memory.added.map(({ jobId }) => jobId), settled, end: await ended };
      } finally {
        vi.useRealTimers();
      }
    }

    it('offers it again where it vanished from the queue', async () => {
      expect(await runSilent(undefined)).toEqual({
        early: 1,
        added: ['0_g0', '0_g1'],
        settled: ['0'],
        end: [],
      });
    });

    it('settles it where it ended', async () => {
      expect(await runSilent({ kind: 'done' })).toMatchObject({ added: ['0_g0'], settled: ['0'], end: [] });
      const { added, end } = await runSilent({ kind: 'failed', reason: 'part is damaged' });
      expect({ added, end }).toMatchObject({ added: ['0_g0'], end: [{ reason: 'part is damaged' }] });
      const handedBack = await runSilent({ kind: 'handed_back', why: 'worker left' });
      expect(handedBack).toMatchObject({ added: ['0_g0', '0_g1'], settled: ['0'], end: [] });
    });

    it('leaves it alone where it is open', async () => {
      expect(await runSilent({ kind: 'open' })).toMatchObject({
        added: ['0_g0'],
        settled: [],
        end: 'not ended',
      });
    });
  });

  it('says why the queue gives out none of its jobs, and once it does again', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    try {
      const memory = createMemoryQueue();
      let why: string | undefined = 'paused';
      const said: [string, string | undefined][] = [];
      const queue: WorkQueue = { ...memory.queue, findHold: async () => why };
      const deps = depsWith(queue, { onHold: (name, reason) => void said.push([name, reason]) });
      const run = runScheduler(each(work(1)), deps);
      await vi.advanceTimersByTimeAsync(8_000);
      const paused = [...said];
      why = undefined;
      await vi.advanceTimersByTimeAsync(8_000);
      const resumed = said.slice(paused.length);
      why = 'paused again';
      await vi.advanceTimersByTimeAsync(8_000);
      memory.settle('0_g0', { kind: 'done' });
      await vi.advanceTimersByTimeAsync(2_000);
      await run;
      expect({ paused, resumed, atLast: said.slice(2) }).toEqual({
        paused: [['import-part', 'paused']],
        resumed: [['import-part', undefined]],
        atLast: [
          ['import-part', 'paused again'],
          ['import-part', undefined],
        ],
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it('offers work that keeps coming back more and more slowly', async () => {
    const memory = createMemoryQueue();
    memory.whenAdded(({ jobId, delayMs }) =>
      setImmediate(() =>
        memory.settle(jobId, delayMs < 1_000 ? { kind: 'handed_back', why: 'no' } : { kind: 'done' }),
      ),
    );
    await runScheduler(each(work(1)), depsWith(memory.queue));
    expect(memory.added.map(({ delayMs }) => delayMs)).toEqual([0, 0, 0, 800, 1_600]);
  });

  it('ends when staging says that the migration is paused, though the queue does not', async () => {
    const memory = createMemoryQueue();
    memory.whenAdded(({ jobId }) =>
      setImmediate(() => memory.settle(jobId, { kind: 'handed_back', why: 'paused' })),
    );
    const assertNotHeld = async () => {
      throw new Error('the migration was paused');
    };
    await expect(runScheduler(each(work(1)), depsWith(memory.queue, { assertNotHeld }))).rejects.toThrow(
      'paused',
    );
    expect(memory.added).toHaveLength(1);
  });

  it('continues after a failure and returns it', async () => {
    const memory = createMemoryQueue();
    memory.whenAdded(({ jobId }) =>
      setImmediate(() =>
        memory.settle(
          jobId,
          jobId === '1_g0' ? { kind: 'failed', reason: 'part is damaged' } : { kind: 'done' },
        ),
      ),
    );
    const failures = await runScheduler(each(work(4)), depsWith(memory.queue));
    expect(failures).toMatchObject([{ work: { id: '1' }, reason: 'part is damaged' }]);
    expect(memory.added).toHaveLength(4);
  });

  it('asks by the clock whether it may continue, however much the workers report', async () => {
    const memory = createMemoryQueue();
    let reporting: NodeJS.Timeout | undefined;
    memory.whenAdded(({ jobId }) => {
      reporting = setInterval(() => {
        for (const listener of memory.listeners) listener({ kind: 'progress', jobId, progress: {} });
      }, 5);
    });
    const assertRunning = async () => {
      throw new Error('paused meanwhile');
    };
    await expect(runScheduler(each(work(1)), depsWith(memory.queue, { assertRunning }))).rejects.toThrow(
      'paused meanwhile',
    );
    clearInterval(reporting);
  });

  it('stops at once when its signal aborts, even while the queue does not answer', async () => {
    const memory = createMemoryQueue();
    const stop = new AbortController();
    const hanging: WorkQueue = {
      ...memory.queue,
      add: () => {
        stop.abort(new Error('stopped by the operator'));
        return new Promise(() => {});
      },
    };
    await expect(runScheduler(each(work(1)), depsWith(hanging, { signal: stop.signal }))).rejects.toThrow(
      'stopped by the operator',
    );
  });

  it('throws what the source of work throws', async () => {
    const memory = createMemoryQueue();
    async function* broken(): AsyncGenerator<Work> {
      yield* work(1);
      throw new Error('the listing failed');
    }
    await expect(runScheduler(broken(), depsWith(memory.queue))).rejects.toThrow('the listing failed');
  });
});
