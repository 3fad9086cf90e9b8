import { expect, it } from 'vitest';
import { createUnderWay } from '../../../src/lib/async/under-way.ts';

it('tells who watches when the first work begins and the last has ended, however it ends', async () => {
  const underWay = createUnderWay();
  const heard: boolean[] = [];
  const stop = underWay.watch((is) => heard.push(is));
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const work = () =>
    underWay.during(() => new Promise<void>((resolve, reject) => ends.push({ resolve, reject })));
  const works = [work(), work()];
  ends[0]?.reject(new Error('broken'));
  await expect(works[0]).rejects.toThrow('broken');
  expect(heard).toEqual([false, true]);
  ends[1]?.resolve();
  await works[1];
  expect(heard).toEqual([false, true, false]);

  stop();
  await underWay.during(async () => {});
  expect(heard).toEqual([false, true, false]);
});
