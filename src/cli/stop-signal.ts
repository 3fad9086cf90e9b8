import { once } from 'node:events';
import { StoppedError } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

/** The first SIGINT or SIGTERM stops at the next batch; the second ends the process at once. */
export function stopSignal(terminal: Terminal, message: string): { signal: AbortSignal; dispose(): void } {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
    terminal.say('Stopping … (again to end at once; nothing is lost either way)');
    controller.abort(new StoppedError(message));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    dispose() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

/** Waits until the signal is aborted; at once where it is already. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
