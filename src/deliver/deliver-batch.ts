import type { Batch, Delivery } from '../contract/delivery.ts';
import { PausedError } from '../lib/errors.ts';
import type { Sending } from './attempt.ts';
import type { RepeatedAttempts, RequestOutcome } from './attempt-repeatedly.ts';
import type { Budget } from './budget/budget.ts';
import { countEvents, halveByBytes, halveByCount, type Range, sliceBody, takeStart } from './ranges.ts';
import { type Answer, confirmRefusals } from './refusals/confirm-refusals.ts';
import { type AskOthers, assertTakesOthers } from './refusals/doubts.ts';
import type { KnownGood } from './refusals/known-good.ts';
import type { RefusalGuard } from './refusals/refusal-guard.ts';
import type { createSizeCap } from './size-cap.ts';

/**
 * A refused event is lost to the migration, so one event is refused only after several responses: a single
 * 400 may come from a proxy or a deployment. The last one comes when the refusal is confirmed.
 */
const REFUSALS_NEEDED = 3;
/** Attempts at a part of a request that failed in all of its own, before it is cut again. A single event has them all. */
const ATTEMPTS_OF_PARTS = 3;

export interface BatchOptions {
  readonly attemptRepeatedly: RepeatedAttempts['attemptRepeatedly'];
  /** The request with the events of a body: see Batch. */
  readonly pack: (body: Buffer) => Promise<Buffer>;
  /** What `pack` adds to a body, before it is compressed. */
  readonly envelopeBytes: number;
  readonly askOthers: (sending: Sending) => AskOthers;
  readonly knownGood: KnownGood;
  readonly budget: Pick<Budget, 'eventsPerPermit'>;
  /** Of one request. */
  readonly most: { readonly events: number; readonly bytes: number };
  readonly sizeCap: ReturnType<typeof createSizeCap>;
  readonly refusals: RefusalGuard;
  readonly acceptRefusals: boolean;
}

/** Finds the events of a batch that the destination refuses: ranges that are not accepted are cut until one is alone. */
export function createBatchDelivery(options: BatchOptions) {
  const { pack, envelopeBytes, askOthers, knownGood, budget, most, sizeCap, refusals, acceptRefusals } =
    options;
  const triesAtFirst = acceptRefusals ? REFUSALS_NEEDED : REFUSALS_NEEDED - 1;

  /** The decision about one range. An event that is refused alone is sent `triesAlone` times. */
  async function sendRange(
    batch: Batch,
    range: Range,
    triesAlone: number,
    sending: Sending,
    attempts?: number,
  ): Promise<Outcome> {
    const body = sliceBody(batch, range);
    const bytes = body.length + envelopeBytes;
    const request = await pack(body);
    for (let tries = 1; ; tries += 1) {
      const decision = await options.attemptRepeatedly(request, { batch, range }, sending, attempts);
      const known = knownGood.find(sending.condition);
      if (decision.kind === 'accepted') {
        sizeCap.noteAccepted(bytes);
        if (batch !== known) refusals.noteAccepted(countEvents(range));
        knownGood.note(batch, range.from, sending.condition);
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

  const sendAlone = (batch: Batch, index: number, tries: number, sending: Sending): Promise<Outcome> =>
    sendRange(batch, { from: index, to: index + 1 }, tries, sending);

  /** One Delivery per event, in order. */
  return async function deliverBatch(batch: Batch, sending: Sending): Promise<Delivery[]> {
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
      const decision = await sendRange(batch, range, triesAtFirst, sending, attempts);
      if (decision.kind === 'accepted') {
        deliveries.fill(ACCEPTED, range.from, range.to);
      } else if (countEvents(range) === 1) {
        const isDoubtful = decision.kind === 'doubt' || decision.kind === 'failing';
        if (isDoubtful) refusals.noteDoubtful(decision.detail);
        else refusals.noteRefused(decision.detail);
        if (isFailing(decision)) perhapsStored.add(range.from);
        deliveries[range.from] = refuse(range.from, decision.detail);
        // An operator who accepts refusals has looked at some of them, and never at what came of an outage.
        if (isDoubtful || !acceptRefusals) unsure.push(range.from);
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
        const known = knownGood.find(sending.condition);
        return known && toAnswer(await sendAlone(known, 0, REFUSALS_NEEDED, sending));
      },
      guard: refusals,
      acceptRefusals,
    });
    for (const index of unsure) {
      const detail = confirmed.get(index);
      deliveries[index] = detail === undefined ? ACCEPTED : refuse(index, detail);
    }
    const [detail = ''] = confirmed.values();
    if (confirmed.size === deliveries.length) refusals.noteBatchRefused(confirmed.size, detail);
    return deliveries;
  };
}

interface OpenRange extends Range {
  /** Of one that was not accepted in all its attempts, while other events were. */
  readonly isFailing?: boolean | undefined;
}

type Outcome = Exclude<RequestOutcome, { kind: 'pause' }>;

/** No answer says whether the events are stored. */
const isFailing = (decision: Outcome): boolean =>
  decision.kind === 'failing' || (decision.kind === 'doubt' && decision.isRepeated === true);

const toAnswer = (decision: Outcome): Answer =>
  decision.kind === 'accepted' ? decision : { kind: 'refused', detail: decision.detail };

const ACCEPTED: Delivery = { kind: 'accepted' };
