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
