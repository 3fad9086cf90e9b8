import { ConfigError, PreflightError, StopError } from '../lib/errors.ts';
import type { RunResult } from '../migrations/start.ts';

/** What a script may rely on. Listed in the README; 130 and 143 mean a second signal ended the process at once. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  rejectsAboveThreshold: 3,
  preflightRefused: 4,
  stoppedResumable: 5,
  differences: 6,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export const RUN_EXIT: Readonly<Record<RunResult['kind'], ExitCode>> = {
  finished: EXIT.done,
  failed: EXIT.failed,
  unbalanced: EXIT.failed,
  refused: EXIT.usage,
  rejects_above_threshold: EXIT.rejectsAboveThreshold,
  approval_needed: EXIT.preflightRefused,
  stopped: EXIT.stoppedResumable,
  unavailable: EXIT.stoppedResumable,
  held: EXIT.stoppedResumable,
  superseded: EXIT.stoppedResumable,
};

/** The command stopped on purpose and can be continued; the message says how. */
export class StoppedError extends StopError {
  constructor(message: string, note = message) {
    super(message, note);
  }
}

export function toExitCode(error: unknown): ExitCode {
  if (error instanceof StoppedError) return EXIT.stoppedResumable;
  if (error instanceof ConfigError) return EXIT.usage;
  if (error instanceof PreflightError) return EXIT.preflightRefused;
  return EXIT.failed;
}
