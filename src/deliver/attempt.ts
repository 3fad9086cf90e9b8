import Bottleneck from 'bottleneck';
import type { SendCondition, Standing } from '../contract/delivery.ts';
import { raceAbort } from '../lib/async/abort.ts';
import { explainCertificate } from '../lib/certificate.ts';
import type { Budget, Permit } from './budget/budget.ts';
import { type ClassifyOptions, classify, type Decision } from './classify.ts';
import { describeBreak, type Sender } from './send.ts';
import type { WaitingNote } from './waiting-note.ts';

/** What goes for all requests of a batch. */
export interface Sending {
  readonly signal: AbortSignal;
  readonly condition: SendCondition | undefined;
}

export interface AttemptOptions {
  readonly sender: Sender;
  readonly budget: Pick<Budget, 'take'>;
  /** Asked before each request. Undefined: it may be sent. */
  readonly standing: Standing | undefined;
  readonly destination: ClassifyOptions;
  readonly requestsInFlight: number;
  readonly waiting: Pick<WaitingNote, 'during'>;
  /** Wall clock in ms, to read Retry-After dates. */
  readonly now: () => number;
}

export interface Attempts {
  /** Sends a compressed request with so many events once. A connection that breaks is a decision to retry. */
  readonly attempt: (request: Buffer, events: number, sending: Sending) => Promise<Decision>;
  readonly close: () => Promise<void>;
}

/** One request: a slot, a permit, a response. The slot comes first, so that no permit is held idle. */
export function createAttempts(options: AttemptOptions): Attempts {
  const { sender, budget, standing, destination, waiting, now } = options;
  const slots = createSlots(options.requestsInFlight);

  /**
   * A permit of a migration that still stands. This process may sleep for hours while it waits for one, and then nobody
   * else knows of the request that it is about to send: so a permit that came after a sleep is given back.
   */
  async function takePermit(events: number, signal: AbortSignal): Promise<Permit> {
    for (;;) {
      if (standing?.isKnown() === false) await standing.assert(signal);
      const permit = await waiting.during(budget.take(events, signal));
      if (standing?.isKnown() !== false) return permit;
      await permit.settle();
      await standing.assert(signal);
    }
  }

  return {
    async attempt(request, events, { signal, condition }) {
      const work = slots.schedule(async (): Promise<Decision> => {
        const permit = await takePermit(events, signal);
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
    },

    async close() {
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
