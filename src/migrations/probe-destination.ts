import { randomUUID } from 'node:crypto';
import type { TargetEvent } from '../contract/event.ts';
import { classify, renderAnswer, type TargetResponse } from '../deliver/classify.ts';
import type { DeliverOptions } from '../deliver/deliver.ts';
import { renderEnvelope } from '../deliver/envelope.ts';
import { compress, createSender, describeBreak } from '../deliver/send.ts';
import { explainCertificate } from '../lib/certificate.ts';
import { ConfigError, UnavailableError } from '../lib/errors.ts';

const TIMEOUT_MS = 10_000;
const TIMEOUTS = { connectMs: TIMEOUT_MS, headersMs: TIMEOUT_MS, bodyMs: TIMEOUT_MS, totalMs: TIMEOUT_MS };

type Destination = DeliverOptions['destination'];

/**
 * Sends the destination an empty batch, which stores nothing, in the form of a run. Returns a sentence about its
 * response. Throws ConfigError or UnavailableError, with the address, where a run would fail.
 */
export async function probeDestination(destination: Destination): Promise<string> {
  const { address, answer } = await post(destination, []);
  return explainAnswer(address, answer, destination);
}

/** The event that `doctor --send-probe` sends, and by which it can be found at the destination. */
const PROBE = { event: 'backhaul probe', distinctId: 'backhaul-probe' } as const;

/**
 * Sends the destination one event. Returns a sentence with its answer, and throws ConfigError with the same where
 * the answer would not count as accepted. Changes no setting: what counts is what the manifest says.
 */
export async function sendProbe(destination: Destination, now: Date): Promise<string> {
  const event: TargetEvent = {
    uuid: randomUUID(),
    event: PROBE.event,
    timestamp: now.toISOString(),
    properties: { distinct_id: PROBE.distinctId, $process_person_profile: false },
  };
  const { address, answer } = await post(destination, [event]);
  const seen = `${address} answers the event "${PROBE.event}" (${event.uuid}) with ${renderAnswer(answer, destination.apiKey)}`;
  const decision = classify(answer, now.getTime(), destination);
  if (decision.kind === 'accepted') return `${seen}; a run counts this as accepted`;
  throw new ConfigError(
    `${seen}; a run does not count this as accepted. If the event "${PROBE.event}" of ${PROBE.distinctId} arrived all the same, declare this answer as destination.acceptance`,
  );
}

async function post(destination: Destination, events: readonly TargetEvent[]) {
  const { url, apiKey } = destination;
  const sender = createSender(url, 1, TIMEOUTS);
  try {
    const { head, tail } = renderEnvelope(apiKey);
    const body = Buffer.from(events.map((event) => JSON.stringify(event)).join(','));
    const answer = await sender
      .send(await compress([head, body, tail]), AbortSignal.timeout(TIMEOUT_MS))
      .catch((error: unknown) => {
        const message = explainCertificate(error, sender.address);
        if (message !== undefined) throw new ConfigError(message, error);
        throw new UnavailableError(
          `${sender.address} cannot be reached or does not answer to the end (${describeBreak(error)}); check destination.url, and whether the service is up`,
          'backoff',
          error,
        );
      });
    return { address: sender.address, answer };
  } finally {
    await sender.close();
  }
}

function explainAnswer(address: string, answer: TargetResponse, destination: Destination): string {
  const { status } = answer;
  const decision = classify(answer, Date.now(), destination);
  switch (decision.kind) {
    case 'accepted':
      return `${address} answers (${status})`;
    case 'bisect':
      if (REFUSES_EMPTY.test(decision.detail)) {
        return `${address} answers (${status}: it takes no empty batch, which a run does not send)`;
      }
      throw new ConfigError(
        `${address} refuses a request without events (HTTP 400: ${decision.detail}); check destination.url, the key, and what stands in front of the service`,
      );
    case 'halve':
      throw new ConfigError(
        `${address} finds a request without events too large (HTTP ${status}: ${decision.detail}); check the size limit of what stands in front of it`,
      );
    case 'retry':
      throw new UnavailableError(
        `${address} is there, but ${decision.slowDown ? 'busy' : 'down'} (${decision.detail}); a run would wait and try again: look at the service, or ask again later`,
      );
    case 'unproven':
      throw new ConfigError(
        `${address} answers a request without events with ${decision.detail}, which does not say that it takes events; "doctor --send-probe" sends one event and shows the answer to that`,
      );
    case 'foreign':
    case 'pause':
    case 'doubt':
      throw new ConfigError(`${address}: ${decision.message}`);
  }
}

/** Some services refuse an empty batch: they understood it. */
const REFUSES_EMPTY = /empty|no events?\b|at least (one|1)|without events/i;
