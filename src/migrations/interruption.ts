import { ConfigError, FencedOutError, getMessage, PreflightError, UnavailableError } from '../lib/errors.ts';
import { classifyReply, explainRefusedByRedis } from '../lib/redis/redis-reply.ts';
import type { Control } from '../state/control.ts';
import { RefusedError } from './life-store.ts';
import { ControlError } from './run/lease.ts';

/** What ended a run before its report. */
export type Interruption =
  /** The caller's signal was aborted. */
  | { readonly kind: 'stopped'; readonly migration: string; readonly reason: string }
  /** Staging, destination or an embedded part is down. `begun`: the migration exists, and has a name to resume. */
  | {
      readonly kind: 'unavailable';
      readonly migration: string;
      readonly reason: string;
      readonly begun: boolean;
    }
  /** The migration was paused or cancelled while it ran. */
  | {
      readonly kind: 'held';
      readonly migration: string;
      readonly state: Control['state'];
      readonly reason: string;
    }
  /** Another process runs it now. */
  | { readonly kind: 'superseded'; readonly migration: string; readonly reason: string }
  /** The contract asks for an approval first; the reason holds the support request. */
  | { readonly kind: 'approval_needed'; readonly migration: string; readonly reason: string }
  | {
      readonly kind: 'refused';
      readonly migration: string;
      readonly refusal: RefusedError['refusal'];
      readonly reason: string;
    };

export interface InterruptionFacts {
  readonly migration: string;
  readonly begun: boolean;
  readonly stop?: AbortSignal;
  readonly failed?: AbortSignal;
  /** What control gives as the reason of a pause or cancel. */
  readonly reason?: string;
}

/** What ended a run early, as a result. Throws the error where continuing would not help. */
export function toInterruption(
  error: unknown,
  { migration, begun, stop, failed, reason = '' }: InterruptionFacts,
): Interruption {
  const text = getMessage(error);
  if (begun && failed?.aborted)
    return { kind: 'unavailable', migration, reason: getMessage(failed.reason), begun };
  if (error instanceof ControlError) return { kind: 'held', migration, state: error.state, reason };
  if (error instanceof UnavailableError) return { kind: 'unavailable', migration, reason: text, begun };
  if (error instanceof FencedOutError) return { kind: 'superseded', migration, reason: text };
  if (error instanceof PreflightError) return { kind: 'approval_needed', migration, reason: text };
  if (error instanceof RefusedError)
    return { kind: 'refused', migration, refusal: error.refusal, reason: text };
  if (stop?.aborted && error === stop.reason) return { kind: 'stopped', migration, reason: text };
  const reply = classifyReply(error);
  // The connections wait such an answer out, but not where it is the answer to a new connection.
  if (reply === 'outage')
    return { kind: 'unavailable', migration, reason: `Redis cannot be used now: ${text}`, begun };
  if (reply === 'refusal') throw new ConfigError(explainRefusedByRedis(error), error);
  throw error;
}
