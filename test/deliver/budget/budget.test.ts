import { describe, expect, it } from 'vitest';
import { createUnlimitedBudget, listRedisBudgetKeys } from '../../../src/deliver/budget/budget.ts';

describe('listRedisBudgetKeys', () => {
  const keysOf = (url: string, apiKey = 'k', project?: string) =>
    listRedisBudgetKeys({ url, apiKey, project });

  it('hides the key, keeps one slot of a cluster, and is one for all spellings of an address', () => {
    const keys = keysOf('https://a.example/', 'phc_secret', 'shop');
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(key).toMatch(/^\{bh\}:budget:[0-9a-f]{32}$/);
    expect(keysOf('https://A.example', 'phc_secret', 'shop')).toEqual(keys);
    expect(keysOf('https://a.example/base/')).toEqual(keysOf('https://a.example/base'));
  });

  it('differs by address and by key', () => {
    const keys = [
      ...keysOf('https://a.example'),
      ...keysOf('https://b.example'),
      ...keysOf('https://a.example', 'l'),
    ];
    expect(new Set(keys).size).toBe(3);
  });

  it('shares that of a named project with its next key, and that of the key with whoever names no project', () => {
    const [shop, key] = keysOf('https://a.example', 'k', 'shop');
    expect(keysOf('https://a.example', 'l', 'shop')[0]).toBe(shop);
    expect(keysOf('https://a.example', 'k')).toEqual([key]);
    expect(keysOf('https://a.example', 'k', 'other')[0]).not.toBe(shop);
  });
});

describe('the unlimited budget', () => {
  it('never waits of its own', async () => {
    const budget = createUnlimitedBudget();
    const permit = await budget.take(1_000_000, new AbortController().signal);
    await permit.settle();
    expect(budget.eventsPerPermit).toBe(Number.POSITIVE_INFINITY);
  });

  it('waits as long as the destination asked for, the longest counting', async () => {
    const budget = createUnlimitedBudget();
    const start = performance.now();
    await budget.slowDown(80);
    await budget.slowDown(10);
    await budget.take(1, new AbortController().signal);
    expect(performance.now() - start).toBeGreaterThanOrEqual(79);
  });

  it('stops waiting when aborted', async () => {
    const budget = createUnlimitedBudget();
    await budget.slowDown(1_000_000);
    const controller = new AbortController();
    const taking = budget.take(1, controller.signal);
    controller.abort(new Error('Ctrl-C'));
    await expect(taking).rejects.toThrow('Ctrl-C');
  });
});
