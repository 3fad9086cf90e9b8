import { once } from 'node:events';
import { EXIT, StoppedError } from './exit-code.ts';
import type { Terminal } from './terminal.ts';

/** From the first signal to the end of the process, whatever does not answer. The documentation names it. */
export const END_WITHIN_MS = 20_000;

export interface StopSignal {
  readonly signal: AbortSignal;
  /** Until `listen` is called, SIGINT and SIGTERM end the process at once, with these words. */
  endWith(message: string): void;
  /**
   * From here on the first SIGINT or SIGTERM aborts with this message; the second ends the process at once, as does
   * END_WITHIN_MS after the first, with the exit code of a stop. `note`: see StopError.
   */
  listen(message: string, note?: string): void;
  dispose(): void;
}

/** Until `endWith` or `listen` is called, SIGINT and SIGTERM end the process as they do by default. */
export function createStopSignal(terminal: Terminal): StopSignal {
  const controller = new AbortController();
  let message = '';
  let note: string | undefined;
  let isListening = false;
  const endLate = () => {
    terminal.info(
      `Something did not answer for ${END_WITHIN_MS / 1_000} s and is not waited for. ${message}`.trim(),
    );
    process.exit(EXIT.stoppedResumable);
  };
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted || !isListening) {
      if (!isListening) terminal.info(message);
      return process.exit(name === 'SIGINT' ? 130 : 143);
    }
    terminal.info('Stopping … (again to end at once; nothing is lost either way)');
    // It ends closing as well, which `dispose` precedes.
    setTimeout(endLate, END_WITHIN_MS).unref();
    controller.abort(new StoppedError(message, note));
  };
  const ignore = () => {
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
  const react = (text: string) => {
    message = text;
    ignore(); // it may react already
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  };
  return {
    signal: controller.signal,
    endWith: react,
    listen(text, kept) {
      isListening = true;
      note = kept;
      react(text);
    },
    dispose: ignore,
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
