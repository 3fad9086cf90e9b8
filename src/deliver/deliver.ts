import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import type { Batch, Deliver, Standing } from '../contract/delivery.ts';
import { runAbortable } from '../lib/async/abort.ts';
import { ConfigError, UnavailableError } from '../lib/errors.ts';
import type { Acceptance } from './acceptance.ts';
import { createAttempts } from './attempt.ts';
import { createRepeatedAttempts } from './attempt-repeatedly.ts';
import { type Budget, type BudgetClock, SYSTEM_CLOCK } from './budget/budget.ts';
import { createBatchDelivery } from './deliver-batch.ts';
import { ENVELOPE_BYTES, renderEnvelope } from './envelope.ts';
import { createAloneCount } from './refusals/alone.ts';
import { createAskAccepted } from './refusals/ask-accepted.ts';
import { createKnownGood } from './refusals/known-good.ts';
import { createOthers } from './refusals/others.ts';
import { ACCEPT_REFUSALS, createRefusalGuard } from './refusals/refusal-guard.ts';
import { chooseBackoffMs, DEFAULT_RETRY_POLICY, type RetryPolicy } from './retry-policy.ts';
import { compress, createSender, DEFAULT_SEND_TIMEOUTS, type SendTimeouts } from './send.ts';
import { createSizeCap } from './size-cap.ts';
import { createWaitingNote } from './waiting-note.ts';

/**
 * In: batches. Out: one Delivery per event, in order. Guarantees I6 and I7 of ARCHITECTURE.md: no attempt
 * without a permit of the budget, and a bad event does not stop the other events of its batch.
 */
export interface DeliverOptions {
  readonly destination: {
    readonly url: string;
    readonly apiKey: string;
    /** Another yes than the known ones. */
    readonly acceptance?: Acceptance | undefined;
  };
  readonly limits: {
    readonly requestsInFlight: number;
    /** Of one request; a batch with more goes out in several. @default none */
    readonly request?: { readonly events: number; readonly bytes: number };
  };
  readonly budget: Budget;
  /** From 0 up to, but not including, 1. */
  readonly random: () => number;
  /** Wall clock in ms, to read Retry-After dates. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /**
   * Events that this destination accepted before this process began: sent again, they tell an outage from an event that
   * always fails. @default none
   */
  readonly loadAccepted?: () => Promise<readonly Batch[]>;
  /** Asked before each request. @default it may be sent */
  readonly standing?: Standing;
  /** Whether a long row of refused events is no reason to pause. @default false */
  readonly acceptRefusals?: boolean | undefined;
  readonly retry?: Partial<RetryPolicy>;
  readonly timeouts?: Partial<SendTimeouts>;
  /** Of the waits between attempts and of the bound on a whole request. @default the time of this process */
  readonly clock?: BudgetClock;
}

export interface Delivering {
  readonly deliver: Deliver;
  /** Bytes above which this destination is sent no request, after a 413; Infinity while it is sent any. */
  readonly byteCap: () => number;
  /** Whether events wait, for a permit or for the next attempt, and nothing was sent for a while. */
  readonly isWaiting: () => boolean;
  /** What the destination answered last, where the same is sent again because of it. */
  readonly trouble: () => string | undefined;
  /** Aborts requests in flight. */
  readonly close: () => Promise<void>;
}

const UNBOUNDED = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

export function createDeliver(options: DeliverOptions): Delivering {
  const {
    destination,
    budget,
    standing,
    random,
    now,
    log,
    clock = SYSTEM_CLOCK,
    acceptRefusals = false,
  } = options;
  const policy = { ...DEFAULT_RETRY_POLICY, ...options.retry };
  const { requestsInFlight, request: most = UNBOUNDED } = options.limits;
  const envelope = renderEnvelope(destination.apiKey);
  const envelopeBytes = envelope.head.length + envelope.tail.length;
  if (destination.apiKey === '' || envelopeBytes > ENVELOPE_BYTES) {
    throw new ConfigError(
      'destination.apiKey is empty or too long to be a project API key: check what it is read from',
    );
  }
  const timeouts = { ...DEFAULT_SEND_TIMEOUTS, ...options.timeouts };
  const sender = createSender(destination.url, requestsInFlight, timeouts, clock);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one per batch in flight
  const waiting = createWaitingNote(() => clock.now());
  const backOff = (tries: number, signal: AbortSignal) =>
    waiting.during(clock.wait(chooseBackoffMs(tries, policy, random), signal));
  const pack = (body: Buffer) => compress([envelope.head, body, envelope.tail]);
  const sizeCap = createSizeCap(log);
  const refusals = acceptRefusals ? ACCEPT_REFUSALS : createRefusalGuard();
  const alone = createAloneCount(acceptRefusals);
  const acceptedBefore = createAskAccepted(options.loadAccepted ?? (async () => []), log);
  const knownGood = createKnownGood();

  const { attempt, close } = createAttempts({
    ...{ sender, budget, standing, destination, requestsInFlight, waiting, now },
  });
  const askOthers = createOthers({ attempt, pack, knownGood, acceptedBefore, acceptRefusals, backOff });
  const { attemptRepeatedly, trouble } = createRepeatedAttempts({
    ...{ attempt, address: sender.address, budget, policy, backOff, log },
    ...{ askOthers, knownGood, acceptedBefore, alone },
  });
  const deliverBatch = createBatchDelivery({
    ...{ attemptRepeatedly, pack, envelopeBytes, budget, most, sizeCap },
    ...{ askOthers, knownGood, refusals, acceptRefusals },
  });

  return {
    async deliver(batch, signal, condition) {
      return runAbortable([signal, closing.signal], (either) =>
        deliverBatch(batch, { signal: either.signal, condition }),
      );
    },

    byteCap: () => sizeCap.bytes,

    isWaiting: waiting.isLong,

    trouble,

    async close() {
      closing.abort(new UnavailableError('delivery was closed while a batch was in flight'));
      await close();
    },
  };
}
