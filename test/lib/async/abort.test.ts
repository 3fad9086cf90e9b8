import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { raceAbort, runAbortable, waitFor } from '../../../src/lib/async/abort.ts';

const never = new Promise<never>(() => {});
const reason = new Error('stopped by the operator');
const countListeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('waitFor', () => {
  it('waits, for times that are over as well', async () => {
    const { signal } = new AbortController();
    await waitFor(1, signal);
    await waitFor(-1, signal);
    expect(countListeners(signal)).toBe(0);
  });

  it('rejects with the reason of the signal, before and while it waits', async () => {
    const stop = new AbortController();
    const waiting = waitFor(60_000, stop.signal);
    stop.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(waitFor(1, stop.signal)).rejects.toBe(reason);
  });
});

describe('raceAbort', () => {
  it('passes on what the work comes to', async () => {
    const { signal } = new AbortController();
    expect(await raceAbort(Promise.resolve('done'), signal)).toBe('done');
    await expect(raceAbort(Promise.reject(reason), signal)).rejects.toBe(reason);
    expect(countListeners(signal)).toBe(0);
  });

  it('rejects with the reason of the signal, and ignores a failure after that', async () => {
    const stop = new AbortController();
    let fail: (error: Error) => void = () => {};
    const raced = raceAbort(new Promise((_resolve, reject) => (fail = reject)), stop.signal);
    stop.abort(reason);
    await expect(raced).rejects.toBe(reason);
    fail(new Error('nobody waits for this any more'));
    await expect(raceAbort(never, stop.signal)).rejects.toBe(reason);
  });
});

describe('runAbortable', () => {
  it('aborts its work with the first of the signals, and lets go of all of them', async () => {
    const [caller, closing] = [new AbortController(), new AbortController()];
    const signals = [caller.signal, closing.signal];
    const running = runAbortable(signals, ({ signal }) => raceAbort(never, signal));
    closing.abort(reason);
    await expect(running).rejects.toBe(reason);
    expect(signals.map(countListeners)).toEqual([0, 0]);
  });

  it('lets its work abort itself', async () => {
    const { signal } = new AbortController();
    const running = runAbortable([signal], (controller) => {
      controller.abort(reason);
      return raceAbort(never, controller.signal);
    });
    await expect(running).rejects.toBe(reason);
    expect(signal.aborted).toBe(false);
  });

  it('does not run under a signal that is aborted already', async () => {
    let hasRun = false;
    const running = runAbortable([new AbortController().signal, AbortSignal.abort(reason)], async () => {
      hasRun = true;
    });
    await expect(running).rejects.toBe(reason);
    expect(hasRun).toBe(false);
  });
});
