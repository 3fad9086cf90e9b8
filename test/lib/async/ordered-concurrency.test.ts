import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mapInOrder } from '../../../src/lib/async/ordered-concurrency.ts';

async function* numbers(count: number) {
  for (let i = 0; i < count; i += 1) yield i;
}

/** A task whose end the test decides. */
function gate<T>() {
  let open: (value: T) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

describe('mapInOrder', () => {
  it('yields results in the order of the source, however late each one ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 5 })),
        fc.integer({ min: 1, max: 5 }),
        async (turns, width) => {
          const seen: number[] = [];
          const results = mapInOrder(
            numbers(turns.length),
            width,
            new AbortController().signal,
            async (i) => {
              for (let turn = 0; turn < (turns[i] ?? 0); turn += 1) await Promise.resolve();
              return i;
            },
          );
          for await (const i of results) seen.push(i);
          expect(seen).toEqual(turns.map((_, i) => i));
        },
      ),
    );
  });

  it('never has more tasks in flight than its width', async () => {
    let running = 0;
    let most = 0;
    const results = mapInOrder(numbers(20), 3, new AbortController().signal, async (i) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return i;
    });
    for await (const _ of results);
    expect(most).toBe(3);
  });

  it('starts no task after one has failed, even while an earlier one still runs', async () => {
    const first = gate<number>();
    const started: number[] = [];
    async function* source() {
      yield 0;
      yield 1;
      // By now the second task has failed; the first one holds back its error.
      await new Promise((resolve) => setImmediate(resolve));
      first.open(0);
      yield 2;
    }
    const results = mapInOrder(source(), 4, new AbortController().signal, (i) => {
      started.push(i);
      return i === 0 ? first.promise : Promise.reject(new Error(`task ${i}`));
    });
    await expect(async () => {
      for await (const _ of results);
    }).rejects.toThrow('task 1');
    expect(started).toEqual([0, 1]);
  });

  it('yields the finished prefix before it throws the first failure', async () => {
    const seen: number[] = [];
    const results = mapInOrder(numbers(10), 4, new AbortController().signal, async (i) => {
      if (i === 3) throw new Error('task 3 broke');
      return i;
    });
    await expect(
      (async () => {
        for await (const i of results) seen.push(i);
      })(),
    ).rejects.toThrow('task 3 broke');
    expect(seen).toEqual([0, 1, 2]);
  });

  it('starts nothing new after a failure, also while an earlier task still runs', async () => {
    const first = gate<number>();
    const started: number[] = [];
    const results = mapInOrder(numbers(10), 2, new AbortController().signal, async (i) => {
      started.push(i);
      if (i === 1) throw new Error('task 1 broke');
      return i === 0 ? first.promise : i;
    });
    const seen: number[] = [];
    const done = (async () => {
      for await (const i of results) seen.push(i);
    })();
    await new Promise((resolve) => setImmediate(resolve));
    first.open(0);
    await expect(done).rejects.toThrow('task 1 broke');
    expect(seen).toEqual([0]);
    expect(started).toEqual([0, 1]);
  });

  it('starts nothing new after an abort, and still yields what was in flight', async () => {
    const stop = new AbortController();
    const gates = [gate<number>(), gate<number>()];
    const started: number[] = [];
    const seen: number[] = [];
    const done = (async () => {
      const results = mapInOrder(numbers(10), 2, stop.signal, (i) => {
        started.push(i);
        return gates[i]?.promise ?? Promise.resolve(i);
      });
      for await (const i of results) seen.push(i);
    })();
    await new Promise((resolve) => setImmediate(resolve));
    stop.abort(new Error('stopped by the operator'));
    gates[0]?.open(0);
    gates[1]?.open(1);
    await expect(done).rejects.toThrow('stopped by the operator');
    expect(seen).toEqual([0, 1]);
    expect(started).toEqual([0, 1]);
  });

  it('aborts what is in flight once the grace after an abort is over', async () => {
    const stop = new AbortController();
    const results = mapInOrder(
      numbers(3),
      1,
      stop.signal,
      (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      1,
    );
    const first = results.next();
    stop.abort(new Error('stopped by the operator'));
    await expect(first).rejects.toThrow('stopped by the operator');
  });
});
