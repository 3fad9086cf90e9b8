import { setMaxListeners } from 'node:events';
import Bottleneck from 'bottleneck';
import type { Logger } from 'pino';
import type { Batch, Deliver, Delivery, SendCondition } from '../contract/delivery.ts';
import { raceAbort, runAbortable } from '../lib/async/abort.ts';
import { ConfigError, PausedError, UnavailableError } from '../lib/errors.ts';
import type { Acceptance } from './acceptance.ts';
import { type Budget, type BudgetClock, SYSTEM_CLOCK } from './budget.ts';
import { explainCertificate } from './certificate.ts';
import { classify, type Decision } from './classify.ts';
import { ENVELOPE_BYTES, renderEnvelope } from './envelope.ts';
import {
  copyEvent,
  countEvents,
  halveByBytes,
  halveByCount,
  type Range,
  sliceBody,
  takeStart,
} from './ranges.ts';
import { createAloneCount } from './refusals/alone.ts';
import { createAskAccepted } from './refusals/ask-accepted.ts';
import { type Answer, confirmRefusals } from './refusals/confirm-refusals.ts';
import { assertTakesOthers, type Doubt, isOtherTaken, type Piece } from './refusals/doubts.ts';
import { ACCEPT_REFUSALS, createRefusalGuard } from './refusals/refusal-guard.ts';
import {
  chooseBackoffMs,
  DEFAULT_RETRY_POLICY,
  getBackoffCeilingMs,
  type RetryPolicy,
} from './retry-policy.ts';
import { compress, createSender, DEFAULT_SEND_TIMEOUTS, describeBreak, type SendTimeouts } from './send.ts';
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

/**
 * A refused event is lost to the migration, so one event is refused only after several responses: a single
 * 400 may come from a proxy or a deployment. The last one comes when the refusal is confirmed.
 */
const REFUSALS_NEEDED = 3;
/** A cut-off body or a service that is starting may be behind one answer without a proof, not behind three. */
const UNPROVEN_NEEDED = 3;
/** Attempts at a request that is answered 401 in a process of which the destination has accepted the key: about 4 s. */
const KEY_REFUSALS_NEEDED = 5;
/** Attempts at a part of a request that failed in all of its own, before it is cut again. A single event has them all. */
const ATTEMPTS_OF_PARTS = 3;
const UNBOUNDED = { events: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
/** Every third failed attempt at one request is logged as a warning, the others at debug level. */
const WARN_EVERY = 3;

export function createDeliver(options: DeliverOptions): Delivering {
  const { destination, budget, random, now, log, clock = SYSTEM_CLOCK } = options;
  const policy = { ...DEFAULT_RETRY_POLICY, ...options.retry };
  const { requestsInFlight: inFlight, request: most = UNBOUNDED } = options.limits;
  const envelope = renderEnvelope(destination.apiKey);
  const envelopeBytes = envelope.head.length + envelope.tail.length;
  if (destination.apiKey === '' || envelopeBytes > ENVELOPE_BYTES) {
    throw new ConfigError(
      'destination.apiKey is empty or too long to be a project API key: check what it is read from',
    );
  }
  const timeouts = { ...DEFAULT_SEND_TIMEOUTS, ...options.timeouts };
  const sender = createSender(destination.url, inFlight, timeouts, clock);
  const slots = createSlots(inFlight);
  const waiting = createWaitingNote(() => clock.now());
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one per batch in flight
  const sizeCap = createSizeCap(log);
  const refusals = options.acceptRefusals ? ACCEPT_REFUSALS : createRefusalGuard();
  const triesAtFirst = options.acceptRefusals ? REFUSALS_NEEDED : REFUSALS_NEEDED - 1;
  /** The first event that was accepted, and the scope of its condition. */
  let knownGood: { readonly event: Batch; readonly scope: string | undefined } | undefined;
  let trouble: string | undefined;
  const acceptedBefore = createAskAccepted(options.loadAccepted ?? (async () => []), log);
  let onlyRefused: Buffer | undefined;
  const alone = createAloneCount(options.acceptRefusals ?? false);

  /** One request: a slot, a permit, a response. The slot comes first, so that no permit is held idle. */
  async function attempt(request: Buffer, events: number, { signal, condition }: Sending): Promise<Decision> {
    const work = slots.schedule(async (): Promise<Decision> => {
      const permit = await waiting.during(budget.take(events, signal));
      let forbidden: { readonly error: unknown } | undefined;
      let noteAnswered = () => {};
      const assertMaySend =
        condition &&
        (async () => {
          try {
            noteAnswered = await condition.assert();
          } catch (error) {
            forbidden = { error };
            throw error;
          }
        });
      try {
        const response = await sender.send(request, signal, assertMaySend);
        // A gateway that gives up says nothing of the service behind it, which may still be at work.
        if (response.status < 500) noteAnswered();
        return classify(response, now(), destination);
      } catch (error) {
        signal.throwIfAborted();
        if (forbidden) throw forbidden.error;
        const message = explainCertificate(error, sender.address);
        if (message !== undefined) return { kind: 'pause', message };
        return { kind: 'retry', detail: describeBreak(error), slowDown: false };
      } finally {
        await permit.settle();
      }
    });
    return raceAbort(work, signal);
  }

  /**
   * A page instead of a response of ingestion is retried like an outage: a proxy may serve one while it
   * restarts. When every attempt at a request (over half a minute by default) meets one, it is the content of the
   * request, or only the operator can help. Mixed with failures it is an outage, and the queue retries later, unless
   * other events are taken meanwhile.
   */
  async function attemptRepeatedly(request: Buffer, { batch, range }: Piece, sending: Sending) {
    const events = countEvents(range);
    const { attempts = policy.attempts } = sending;
    let pages = 0;
    let unproven = 0;
    for (let tries = 1; ; tries += 1) {
      const decision = await attempt(request, events, sending);
      if (decision.kind === 'pause' && decision.mayPass && knownGood && tries < KEY_REFUSALS_NEEDED) {
        trouble = decision.message;
        log.warn({ tries, events }, 'key not accepted, which it was before: retrying');
        await waiting.during(clock.wait(chooseBackoffMs(tries, policy, random), sending.signal));
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
        const isLimit = decision.kind === 'retry' && decision.isLimit;
        if (!isLimit && (await isOtherTaken({ batch, range }, askOthers(sending))))
          return { kind: 'failing', detail: `${decision.detail}, while other events were accepted` } as const;
        const isAlone = !isLimit && events === 1 && !findKnownGood(sending) && acceptedBefore.hasNone();
        if (isAlone && alone.isGivenUp(copyEvent(batch, range.from), decision.detail))
          return { kind: 'failing', detail: decision.detail } as const;
        throw new UnavailableError(
          `${sender.address} did not accept a batch in ${tries} attempts; the last failed with ${decision.detail}`,
          slowDownMs > 0 ? { afterMs: slowDownMs } : 'backoff',
        );
      }
      const level = tries % WARN_EVERY === 0 ? 'warn' : 'debug';
      log[level]({ tries, events, detail: decision.detail, slowDownMs }, 'batch not accepted, retrying');
      await waiting.during(clock.wait(chooseBackoffMs(tries, policy, random), sending.signal));
    }
  }

  async function sendOnce(event: Batch, sending: Sending): Promise<Decision> {
    const request = await compress([envelope.head, event.body.subarray(0, -1), envelope.tail]);
    const decision = await attempt(request, 1, sending);
    if (decision.kind === 'accepted' && !findKnownGood(sending))
      knownGood = { event, scope: sending.condition?.scope };
    return decision;
  }

  /** The decision about one range. An event that is refused alone is sent `triesAlone` times. */
  async function sendRange(
    batch: Batch,
    range: Range,
    triesAlone: number,
    sending: Sending,
  ): Promise<Outcome> {
    const body = sliceBody(batch, range);
    const bytes = body.length + envelopeBytes;
    const request = await compress([envelope.head, body, envelope.tail]);
    for (let tries = 1; ; tries += 1) {
      const decision = await attemptRepeatedly(request, { batch, range }, sending);
      const known = findKnownGood(sending);
      if (decision.kind === 'accepted') {
        sizeCap.noteAccepted(bytes);
        if (batch !== known) refusals.noteAccepted(countEvents(range));
        if (!known) knownGood = { event: copyEvent(batch, range.from), scope: sending.condition?.scope };
        return decision;
      }
      if (decision.kind === 'pause') throw new PausedError(decision.message);
      if (decision.kind === 'doubt' && batch !== known)
        await assertTakesOthers(decision, { batch, range }, askOthers(sending));
      if (countEvents(range) > 1) {
        if (decision.kind === 'halve') sizeCap.noteTooLarge(bytes);
        return decision;
      }
      if (tries >= triesAlone) return decision;
    }
  }

  const askOthers = (sending: Sending) => ({
    findKnownGood: () => findKnownGood(sending),
    // They are of no turn.
    seekKnownGood: () =>
      acceptedBefore.seek((event) => sendOnce(event, { signal: sending.signal, condition: undefined })),
    isOnlyOne: ({ body }: Batch) => {
      onlyRefused ??= body;
      return acceptedBefore.hasNone() && onlyRefused.equals(body);
    },
    sendOnce: (event: Batch) => sendOnce(event, sending),
    acceptRefusals: options.acceptRefusals ?? false,
    // An older value must not arrive behind a newer one.
    keepsOrder: sending.condition !== undefined,
    pause: (tries: number) =>
      waiting.during(clock.wait(chooseBackoffMs(tries, policy, random), sending.signal)),
  });

  /** One of another scope must not be sent again; one without a condition always may. */
  const findKnownGood = ({ condition }: Sending) =>
    knownGood?.scope === undefined || knownGood.scope === condition?.scope ? knownGood?.event : undefined;

  const sendAlone = (batch: Batch, index: number, tries: number, sending: Sending): Promise<Outcome> =>
    sendRange(batch, { from: index, to: index + 1 }, tries, sending);

  async function deliverBatch(batch: Batch, sending: Sending): Promise<Delivery[]> {
    const deliveries: Delivery[] = [];
    deliveries.length = batch.offsets.length - 1;
    const unsure: number[] = [];
    const perhapsStored = new Set<number>();
    const refuse = (index: number, detail: string): Delivery =>
      perhapsStored.has(index) ? { kind: 'refused', detail, mayBeStored: true } : { kind: 'refused', detail };
    const all = { from: 0, to: deliveries.length };
    // A stack with the earliest range on top: events are sent in their order.
    const open: OpenRange[] = all.to > 0 ? [all] : [];
    for (let top = open.pop(); top; top = open.pop()) {
      // The cap may have changed since the range was put there.
      const limits = {
        events: Math.min(budget.eventsPerPermit, most.events),
        bytes: Math.min(sizeCap.bytes, most.bytes) - envelopeBytes,
      };
      const range = takeStart(batch, top, limits);
      if (range.to < top.to) open.push({ ...top, from: range.to });
      const attempts = top.isFailing && countEvents(range) > 1 ? ATTEMPTS_OF_PARTS : undefined;
      const decision = await sendRange(batch, range, triesAtFirst, { ...sending, attempts });
      if (decision.kind === 'accepted') {
        deliveries.fill(ACCEPTED, range.from, range.to);
      } else if (countEvents(range) === 1) {
        const isDoubtful = decision.kind === 'doubt' || decision.kind === 'failing';
        if (isDoubtful) refusals.noteDoubtful(decision.detail);
        else refusals.noteRefused(decision.detail);
        if (isFailing(decision)) perhapsStored.add(range.from);
        deliveries[range.from] = refuse(range.from, decision.detail);
        // An operator who accepts refusals has looked at some of them, and never at what came of an outage.
        if (isDoubtful || !options.acceptRefusals) unsure.push(range.from);
      } else {
        const [first, second] = decision.kind === 'halve' ? halveByBytes(batch, range) : halveByCount(range);
        for (const half of [second, first]) open.push({ ...half, isFailing: isFailing(decision) });
      }
    }
    if (unsure.length === 0) return deliveries;
    const confirmed = await confirmRefusals(unsure, {
      async sendAgain(index) {
        const decision = await sendAlone(batch, index, REFUSALS_NEEDED - triesAtFirst, sending);
        if (isFailing(decision)) perhapsStored.add(index);
        return toAnswer(decision);
      },
      async sendKnownGood() {
        const known = findKnownGood(sending);
        return known && toAnswer(await sendAlone(known, 0, REFUSALS_NEEDED, sending));
      },
      guard: refusals,
      acceptRefusals: options.acceptRefusals ?? false,
    });
    for (const index of unsure) {
      const detail = confirmed.get(index);
      deliveries[index] = detail === undefined ? ACCEPTED : refuse(index, detail);
    }
    const [detail = ''] = confirmed.values();
    if (confirmed.size === deliveries.length) refusals.noteBatchRefused(confirmed.size, detail);
    return deliveries;
  }

  return {
    async deliver(batch, signal, condition) {
      return runAbortable([signal, closing.signal], (either) =>
        deliverBatch(batch, { signal: either.signal, condition }),
      );
    },

    byteCap: () => sizeCap.bytes,

    isWaiting: waiting.isLong,

    trouble: () => trouble,

    async close() {
      closing.abort(new UnavailableError('delivery was closed while a batch was in flight'));
      await slots.stop({ dropWaitingJobs: false }).catch(() => {}); // closed twice
      await sender.close();
    },
  };
}

/**
 * Bottleneck starts nothing before the time of the start before it, by the wall clock: set back by an hour, that
 * clock would hold all requests for an hour. With no shortest time between two starts, that time is long ago.
 */
function createSlots(maxConcurrent: number): Bottleneck {
  const slots = new Bottleneck({ maxConcurrent, minTime: Number.NEGATIVE_INFINITY });
  void slots.schedule(async () => {}); // before any start it is that of its making
  return slots;
}

interface Sending {
  readonly signal: AbortSignal;
  readonly condition: SendCondition | undefined;
  /** At one request; undefined: those of the policy. */
  readonly attempts?: number | undefined;
}

interface OpenRange extends Range {
  /** Of one that was not accepted in all its attempts, while other events were. */
  readonly isFailing?: boolean | undefined;
}

type Outcome =
  | Exclude<Decision, Retried | { kind: 'pause' }>
  | { readonly kind: 'failing'; readonly detail: string };

/** No answer says whether the events are stored. */
const isFailing = (decision: Outcome): boolean =>
  decision.kind === 'failing' || (decision.kind === 'doubt' && decision.isRepeated === true);

const toAnswer = (decision: Outcome): Answer =>
  decision.kind === 'accepted' ? decision : { kind: 'refused', detail: decision.detail };

type Retried = Extract<Decision, { kind: 'retry' | 'foreign' | 'unproven' }>;
const isRetried = (decision: Decision): decision is Retried =>
  decision.kind === 'retry' || decision.kind === 'foreign' || decision.kind === 'unproven';

const ACCEPTED: Delivery = { kind: 'accepted' };
