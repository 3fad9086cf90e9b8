import { expect, it } from 'vitest';
import { createSemaphore } from '../../../src/lib/async/semaphore.ts';

/** Work that is done when it is told to. */
function work() {
  let settle: { resolve(value: string): void; reject(error: Error): void } | undefined;
  const run = () => new Promise<string>((resolve, reject) => (settle = { resolve, reject }));
  return {
    run,
    begun: () => settle !== undefined,
    resolve: (value: string) => settle?.resolve(value),
    reject: (error: Error) => settle?.reject(error),
  };
}

it('lets a few work and others wait, first come first served', async () => {
  const inTurn = createSemaphore(2, 2, () => new Error('too many'));
  const all = [work(), work(), work(), work()];
  const done = all.map(({ run }) => inTurn(run));
  expect(all.map(({ begun }) => begun())).toEqual([true, true, false, false]);
  await expect(inTurn(work().run)).rejects.toThrow('too many');
  all[1]?.resolve('b');
  expect(await done[1]).toBe('b');
  expect(all.map(({ begun }) => begun())).toEqual([true, true, true, false]);
  all[0]?.reject(new Error('a'));
  await expect(done[0]).rejects.toThrow('a');
  expect(all.map(({ begun }) => begun())).toEqual([true, true, true, true]);
  all[2]?.resolve('c');
  all[3]?.resolve('d');
  expect(await Promise.all(done.slice(2))).toEqual(['c', 'd']);
  expect(await inTurn(async () => 'free again')).toBe('free again');
});

it('takes who is aborted out of the queue, and leaves the order of the others', async () => {
  const inTurn = createSemaphore(1, 2, () => new Error('too many'));
  const stop = new AbortController();
  const all = [work(), work(), work()];
  const done = all.map(({ run }, index) => inTurn(run, index === 1 ? stop.signal : undefined));
  stop.abort(new Error('stopped'));
  await expect(done[1]).rejects.toThrow('stopped');
  const last = work();
  const end = inTurn(last.run); // in the place that became free
  await expect(inTurn(work().run)).rejects.toThrow('too many');
  all[0]?.resolve('a');
  expect(await done[0]).toBe('a');
  expect([all[1]?.begun(), all[2]?.begun(), last.begun()]).toEqual([false, true, false]);
  all[2]?.resolve('c');
  expect(await done[2]).toBe('c');
  last.resolve('d');
  expect(await end).toBe('d');
});

it('runs nothing for who is aborted already, and takes no place for it', async () => {
  const inTurn = createSemaphore(1);
  await expect(inTurn(async () => 'run', AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  expect(await inTurn(async () => 'free')).toBe('free');
});

it('leaves work alone that has begun when its signal is aborted', async () => {
  const inTurn = createSemaphore(1);
  const stop = new AbortController();
  const [first, second] = [work(), work()];
  const done = [inTurn(first.run), inTurn(second.run, stop.signal)];
  first.resolve('a');
  expect(await done[0]).toBe('a');
  stop.abort(new Error('stopped'));
  second.resolve('b');
  expect(await done[1]).toBe('b');
  expect(await inTurn(async () => 'free')).toBe('free');
});
