import { describe, expect, it, vi } from 'vitest';
import { createStopSignal, END_WITHIN_MS, untilAborted } from '../../src/cli/stop-signal.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

it('waits for a signal, and not for one that has come already', async () => {
  await untilAborted(AbortSignal.abort());
  const controller = new AbortController();
  const waited = untilAborted(controller.signal);
  controller.abort();
  await waited;
});

describe('Ctrl-C', () => {
  it('ends the process at once before a run has begun, and says so; later it stops the run', () => {
    const said: string[] = [];
    const terminal = { info: (line: string) => said.push(line) } as Partial<Terminal> as Terminal;
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const known = new Set(process.listeners('SIGINT'));
    const stop = createStopSignal(terminal);
    const press = () => {
      for (const listener of process.listeners('SIGINT')) if (!known.has(listener)) listener('SIGINT');
    };
    stop.endWith('Stopped before the run began.');
    press();
    expect(said).toEqual(['Stopped before the run began.']);
    expect(exit.mock.calls).toEqual([[130]]);
    expect(stop.signal.aborted).toBe(false);

    stop.listen('Stopped; everything is saved.', 'saved');
    press();
    expect(stop.signal.reason).toMatchObject({ message: 'Stopped; everything is saved.', note: 'saved' });
    expect(exit.mock.calls).toEqual([[130]]);
    press();
    expect(exit.mock.calls).toEqual([[130], [130]]);
    stop.dispose();
    expect(process.listeners('SIGINT').filter((listener) => !known.has(listener))).toEqual([]);
    vi.useRealTimers();
    exit.mockRestore();
  });

  it('ends the process when the time is over in which what does not answer was waited for', () => {
    const said: string[] = [];
    const terminal = { info: (line: string) => said.push(line) } as Partial<Terminal> as Terminal;
    const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never);
    const known = new Set(process.listeners('SIGTERM'));
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    try {
      const stop = createStopSignal(terminal);
      stop.listen('Stopped; continue with: resume shop');
      for (const listener of process.listeners('SIGTERM')) if (!known.has(listener)) listener('SIGTERM');
      stop.dispose();
      vi.advanceTimersByTime(END_WITHIN_MS - 1);
      expect(exit).not.toHaveBeenCalled();
      vi.advanceTimersByTime(1);
      expect(exit.mock.calls).toEqual([[5]]);
      expect(said.at(-1)).toBe(
        'Something did not answer for 20 s and is not waited for. Stopped; continue with: resume shop',
      );
    } finally {
      vi.useRealTimers();
      exit.mockRestore();
    }
  });
});
