import { FencedOutError, getMessage, UnavailableError } from '../lib/errors.ts';
import { ControlError } from '../migrations/run/lease.ts';
import { StoppedError } from './exit-code.ts';

/**
 * What ended a migration that can be gone on with, as the error that says so; anything else as it is.
 * `reason` is what control in staging gives for a pause or cancel.
 */
export function stoppedBy(
  error: unknown,
  goOnWith: string,
  more: { readonly failed?: AbortSignal; readonly reason?: string | undefined } = {},
): unknown {
  const { failed, reason } = more;
  if (failed?.aborted) return saved(getMessage(failed.reason), goOnWith);
  if (error instanceof ControlError)
    return saved(`The migration was ${error.state}${reason ? `: ${reason}` : ''}`, goOnWith);
  if (error instanceof UnavailableError) return saved(error.message, goOnWith);
  if (error instanceof FencedOutError) return new StoppedError(error.message);
  return error;
}

const saved = (what: string, goOnWith: string) =>
  new StoppedError(`${what.replace(/\.$/, '')}. Everything so far is saved. Go on with: ${goOnWith}`);
