import { describe, expect, it } from 'vitest';
import { createResultCache } from '../../../src/server/insights/result-cache.ts';

/** A cache on a clock of its own, and makers that count how often they were asked. */
function setUp(maxCharacters = 1000) {
  const clock = { now: 0 };
  const cache = createResultCache<string>({ keptMs: 100, maxCharacters, now: () => clock.now });
  const made: string[] = [];
  const make = (value: string) => async () => {
    made.push(value);
    return value;
  };
  return { cache, clock, made, make };
}

describe('the cache of results', () => {
  it('gives a kept value until its time is over', async () => {
    const { cache, clock, make } = setUp();
    expect(await cache.get('a', make('one'))).toEqual({ value: 'one', madeAt: 0, isCached: false });
    clock.now = 99;
    expect(await cache.get('a', make('two'))).toEqual({ value: 'one', madeAt: 0, isCached: true });
    clock.now = 100;
    expect(await cache.get('a', make('three'))).toEqual({ value: 'three', madeAt: 100, isCached: false });
  });

  it('makes a value once for all who ask meanwhile', async () => {
    const { cache, made, make } = setUp();
    const asked = await Promise.all([
      cache.get('a', make('x')),
      cache.get('a', make('x')),
      cache.get('b', make('y')),
    ]);
    expect(asked.map(({ value, isCached }) => [value, isCached])).toEqual([
      ['x', false],
      ['x', true],
      ['y', false],
    ]);
    expect(made).toEqual(['x', 'y']);
  });

  it('renews a value that is still fresh, and keeps the new one', async () => {
    const { cache, make } = setUp();
    await cache.get('a', make('old'));
    expect((await cache.renew('a', make('new'))).value).toBe('new');
    expect((await cache.get('a', make('other'))).value).toBe('new');
  });

  it('keeps nothing of a making that failed', async () => {
    const { cache, make } = setUp();
    await expect(cache.get('a', async () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect((await cache.get('a', make('yes'))).value).toBe('yes');
  });

  it('lets the oldest values go when it holds too much', async () => {
    // Six characters of JSON each.
    const { cache, made, make } = setUp(12);
    for (const key of ['a', 'b', 'c']) await cache.get(key, make(`val${key}`));
    await cache.get('c', make('again'));
    await cache.get('b', make('again'));
    expect(made).toEqual(['vala', 'valb', 'valc']);
    await cache.get('a', make('again'));
    expect(made).toHaveLength(4);
  });

  it('does not keep what is too large by itself', async () => {
    const { cache, made, make } = setUp(12);
    await cache.get('a', make('x'.repeat(11)));
    await cache.get('a', make('y'));
    expect(made).toHaveLength(2);
  });
});
