import { describe, expect, it } from 'vitest';
import { createUnlimitedBudget, toRedisBudgetKey } from '../../src/deliver/budget.ts';

describe('toRedisBudgetKey', () => {
  it('hides the key, keeps one slot of a cluster, and is one for all spellings of an address', () => {
    const key = toRedisBudgetKey('https://a.example/', 'phc_secret');
    expect(key).toMatch(/^\{bh\}:budget:[0-9a-f]{32}$/);
    expect(toRedisBudgetKey('https://A.example', 'phc_secret')).toBe(key);
    expect(toRedisBudgetKey('https://a.example/base/', 'k')).toBe(
      toRedisBudgetKey('https://a.example/base', 'k'),
    );
  });

  it('differs by address and by project', () => {
    const keys = [
      toRedisBudgetKey('https://a.example', 'k'),
      toRedisBudgetKey('https://b.example', 'k'),
      toRedisBudgetKey('https://a.example', 'l'),
    ];
    expect(new Set(keys).size).toBe(3);
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
