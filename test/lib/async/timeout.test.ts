import { describe, expect, it } from 'vitest';
import { settleWithin, withTimeout } from '../../../src/lib/async/timeout.ts';

const never = new Promise<never>(() => {});
const late = new Error('too late');
const broken = new Error('broken');

describe('withTimeout', () => {
  it('passes on what the work comes to in time', async () => {
    expect(await withTimeout(Promise.resolve('done'), 60_000, () => late)).toBe('done');
    await expect(withTimeout(Promise.reject(broken), 60_000, () => late)).rejects.toBe(broken);
  });

  it('rejects when time is up, with an error that is made then, and ignores a failure after that', async () => {
    let fail: (error: Error) => void = () => {};
    const work = new Promise<never>((_resolve, reject) => {
      fail = reject;
    });
    let made = 0;
    const createError = () => {
      made += 1;
      return late;
    };
    const waiting = withTimeout(work, 1, createError);
    expect(made).toBe(0);
    await expect(waiting).rejects.toBe(late);
    expect(made).toBe(1);
    fail(new Error('nobody waits for this any more'));
  });
});

describe('settleWithin', () => {
  it('waits for the end of the work, whatever it is', async () => {
    let ended = false;
    await settleWithin(
      new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        ended = true;
        throw broken;
      }),
      60_000,
    );
    expect(ended).toBe(true);
  });

  it('waits no longer than it may', async () => {
    await settleWithin(never, 1);
  });
});
