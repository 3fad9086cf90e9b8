import type { Logger } from 'pino';
import { UnavailableError } from '../lib/errors.ts';
import type { Attempts, Sending } from './attempt.ts';
import type { Budget } from './budget/budget.ts';
import type { Decision } from './classify.ts';
import { copyEvent, countEvents } from './ranges.ts';
import type { AloneCount } from './refusals/alone.ts';
import type { AskAccepted } from './refusals/ask-accepted.ts';
import { type AskOthers, type Doubt, isOtherTaken, type Piece } from './refusals/doubts.ts';
import type { KnownGood } from './refusals/known-good.ts';
import { getBackoffCeilingMs, type RetryPolicy } from './retry-policy.ts';

/** A cut-off body or a service that is starting may be behind one answer without a proof, not behind three. */
const UNPROVEN_NEEDED = 3;
/** Attempts at a request that is answered 401 in a process of which the destination has accepted the key: about 4 s. */
const KEY_REFUSALS_NEEDED = 5;
/** Every third failed attempt at one request is logged as a warning, the others at debug level. */
const WARN_EVERY = 3;

type Retried = Extract<Decision, { kind: 'retry' | 'foreign' | 'unproven' }>;

/** What came of a request. `failing`: all attempts failed, and the events are the reason: see explainFailing. */
export type RequestOutcome =
  | Exclude<Decision, Retried>
  | { readonly kind: 'failing'; readonly detail: string };

export interface RepeatOptions {
  readonly attempt: Attempts['attempt'];
  /** Of requests, for messages. */
  readonly address: string;
  readonly budget: Pick<Budget, 'slowDown'>;
  readonly policy: RetryPolicy;
  /** Waits as long as after so many failed attempts. */
  readonly backOff: (tries: number, signal: AbortSignal) => Promise<void>;
  readonly askOthers: (sending: Sending) => AskOthers;
  readonly knownGood: KnownGood;
  readonly acceptedBefore: Pick<AskAccepted, 'hasNone'>;
  readonly alone: AloneCount;
  readonly log: Pick<Logger, 'debug' | 'warn'>;
}

export interface RepeatedAttempts {
  /**
   * Sends the request of a piece until the destination decides about it. `attempts`: other than those of the policy.
   *
   * @throws {UnavailableError} where all attempts failed, and those of others as well
   */
  readonly attemptRepeatedly: (
    request: Buffer,
    piece: Piece,
    sending: Sending,
    attempts?: number,
  ) => Promise<RequestOutcome>;
  /** What the destination answered last, where the same is sent again because of it. */
  readonly trouble: () => string | undefined;
}

export function createRepeatedAttempts(options: RepeatOptions): RepeatedAttempts {
  const { attempt, budget, policy, backOff, askOthers, knownGood, acceptedBefore, alone, log } = options;
  let trouble: string | undefined;

  /**
   * A page instead of a response of ingestion is retried like an outage: a proxy may serve one while it
   * restarts. When every attempt at a request (over half a minute by default) meets one, it is the content of the
   * request, or only the operator can help. Mixed with failures it is an outage, and the queue retries later, unless
   * other events are taken meanwhile.
   */
  const attemptRepeatedly: RepeatedAttempts['attemptRepeatedly'] = async (
    request,
    piece,
    sending,
    attempts = policy.attempts,
  ) => {
    const events = countEvents(piece.range);
    let pages = 0;
    let unproven = 0;
    for (let tries = 1; ; tries += 1) {
      const decision = await attempt(request, events, sending);
      const mayPass = decision.kind === 'pause' && decision.mayPass === true && knownGood.exists();
      if (mayPass && tries < KEY_REFUSALS_NEEDED) {
        trouble = decision.message;
        log.warn({ tries, events }, 'key not accepted, which it was before: retrying');
        await backOff(tries, sending.signal);
        continue;
      }
      trouble = isRetried(decision) ? decision.detail : undefined;
      if (!isRetried(decision)) return decision;
      if (decision.kind === 'foreign') pages += 1;
      if (decision.kind === 'unproven') unproven += 1;
      if (decision.kind !== 'retry') {
        const limit = Math.min(attempts, UNPROVEN_NEEDED);
        if (pages === attempts || unproven === limit)
          return { ...decision, kind: 'doubt', error: 'pause', isRepeated: true } satisfies Doubt;
      }
      const ceilingMs = getBackoffCeilingMs(tries, policy);
      const slowDownMs = decision.kind === 'retry' && decision.slowDown ? (decision.afterMs ?? ceilingMs) : 0;
      if (slowDownMs > 0) await budget.slowDown(slowDownMs);
      if (tries >= attempts) {
        const isLimit = decision.kind === 'retry' && decision.isLimit === true;
        const detail = isLimit ? undefined : await explainFailing(decision.detail, piece, sending);
        if (detail !== undefined) return { kind: 'failing', detail };
        throw new UnavailableError(
          `${options.address} did not accept a batch in ${tries} attempts; the last failed with ${decision.detail}`,
          slowDownMs > 0 ? { afterMs: slowDownMs } : 'backoff',
        );
      }
      const level = tries % WARN_EVERY === 0 ? 'warn' : 'debug';
      log[level]({ tries, events, detail: decision.detail, slowDownMs }, 'batch not accepted, retrying');
      await backOff(tries, sending.signal);
    }
  };

  /** Why the events themselves are the reason that all attempts failed; undefined where it is an outage. */
  async function explainFailing(detail: string, piece: Piece, sending: Sending): Promise<string | undefined> {
    if (await isOtherTaken(piece, askOthers(sending))) return `${detail}, while other events were accepted`;
    const { batch, range } = piece;
    const isAlone =
      countEvents(range) === 1 && !knownGood.find(sending.condition) && acceptedBefore.hasNone();
    return isAlone && alone.isGivenUp(copyEvent(batch, range.from), detail) ? detail : undefined;
  }

  return { attemptRepeatedly, trouble: () => trouble };
}

const isRetried = (decision: Decision): decision is Retried =>
  decision.kind === 'retry' || decision.kind === 'foreign' || decision.kind === 'unproven';
