import { describe, expect, it } from 'vitest';
import { createResultCache, type Made } from '../../../src/server/insights/result-cache.ts';

const FRESH_MS = 100;
const KEPT_MS = 1000;

/** A cache on a clock of its own, and makers that are ended by the test. */
function setUp(maxCharacters = 1000) {
  const clock = { now: 0 };
  const cache = createResultCache<string>({ keptMs: KEPT_MS, maxCharacters, now: () => clock.now });
  const made: string[] = [];
  const make = (value: string) => async (): Promise<Made<string>> => {
    made.push(value);
    return { value, madeAt: clock.now, freshUntil: clock.now + FRESH_MS };
  };
  const values = async (...asked: Promise<Made<string>>[]) =>
    (await Promise.all(asked)).map(({ value }) => value);
  return { cache, clock, made, make, values };
}

describe('the cache of results', () => {
  it('finds a kept value, and tells whether it is fresh', async () => {
    const { cache, clock, make } = setUp();
    expect(cache.find('a')).toBeUndefined();
    await cache.join('a', make('one'));
    clock.now = FRESH_MS - 1;
    expect(cache.find('a')).toMatchObject({ value: 'one', madeAt: 0, isFresh: true });
    clock.now = FRESH_MS;
    expect(cache.find('a')).toMatchObject({ value: 'one', isFresh: false });
    clock.now = KEPT_MS;
    expect(cache.find('a')).toBeUndefined();
  });

  it('makes a value once for all who ask meanwhile', async () => {
    const { cache, made, make, values } = setUp();
    const asked = values(cache.join('a', make('x')), cache.join('a', make('no')), cache.join('b', make('y')));
    expect(cache.isMaking('a')).toBe(true);
    expect(await asked).toEqual(['x', 'x', 'y']);
    expect(made).toEqual(['x', 'y']);
    expect(cache.isMaking('a')).toBe(false);
  });

  it('renews once for all who want what begins after they asked', async () => {
    const { cache, made, make, values } = setUp();
    const asked = values(
      cache.join('a', make('first')),
      cache.renew('a', make('second')),
      cache.renew('a', make('no')),
      cache.join('a', make('no')),
    );
    expect(await asked).toEqual(['first', 'second', 'second', 'first']);
    expect(made).toEqual(['first', 'second']);
    expect((await cache.renew('a', make('third'))).value).toBe('third');
    expect(cache.find('a')?.value).toBe('third');
  });

  it('keeps nothing of a making that failed, and the old value', async () => {
    const { cache, make } = setUp();
    const fail = async () => Promise.reject(new Error('no'));
    const failed = cache.join('a', fail);
    const renewed = cache.renew('a', make('yes'));
    await expect(failed).rejects.toThrow('no');
    expect((await renewed).value).toBe('yes');
    await expect(cache.renew('a', fail)).rejects.toThrow('no');
    expect(cache.find('a')?.value).toBe('yes');
  });

  it('lets the oldest values go when it holds too much', async () => {
    // Six characters of JSON each.
    const { cache, make } = setUp(12);
    for (const key of ['a', 'b', 'c']) await cache.join(key, make(`val${key}`));
    expect(['a', 'b', 'c'].map((key) => cache.find(key)?.value)).toEqual([undefined, 'valb', 'valc']);
  });

  it('does not keep what is too large by itself', async () => {
    const { cache, make } = setUp(12);
    await cache.join('a', make('x'.repeat(11)));
    expect(cache.find('a')).toBeUndefined();
  });
});
