import { once } from 'node:events';
import { StoppedError } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

export interface StopSignal {
  readonly signal: AbortSignal;
  /** From here on the first SIGINT or SIGTERM aborts with this message; the second ends the process at once. */
  listen(message: string): void;
  dispose(): void;
}

/** Until `listen` is called, SIGINT and SIGTERM end the process as they do by default. */
export function createStopSignal(terminal: Terminal): StopSignal {
  const controller = new AbortController();
  let message = '';
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
    terminal.info('Stopping … (again to end at once; nothing is lost either way)');
    controller.abort(new StoppedError(message));
  };
  return {
    signal: controller.signal,
    listen(text) {
      message = text;
      process.on('SIGINT', onSignal);
      process.on('SIGTERM', onSignal);
    },
    dispose() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}

/** The same, listening at once. */
export function listenForStop(terminal: Terminal, message: string): StopSignal {
  const stop = createStopSignal(terminal);
  stop.listen(message);
  return stop;
}

/** Waits until the signal is aborted; not at all where it is already. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
