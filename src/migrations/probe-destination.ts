import { classify, type TargetResponse } from '../deliver/classify.ts';
import { renderEnvelope } from '../deliver/envelope.ts';
import { compress, createSender, describeBreak } from '../deliver/send.ts';
import { ConfigError, UnavailableError } from '../lib/errors.ts';

const TIMEOUT_MS = 10_000;
const TIMEOUTS = { connectMs: TIMEOUT_MS, headersMs: TIMEOUT_MS, bodyMs: TIMEOUT_MS, totalMs: TIMEOUT_MS };

/**
 * Sends the destination an empty batch, which stores nothing, in the form of a run. Returns a sentence about its
 * response. Throws ConfigError or UnavailableError, with the address, where a run would fail.
 */
export async function probeDestination(url: string, apiKey: string): Promise<string> {
  const sender = createSender(url, 1, TIMEOUTS);
  try {
    const { head, tail } = renderEnvelope(apiKey);
    const answer = await sender
      .send(await compress([head, tail]), AbortSignal.timeout(TIMEOUT_MS))
      .catch((error: unknown) => {
        throw new UnavailableError(
          `${sender.address} cannot be reached or does not answer to the end (${describeBreak(error)}); check destination.url, and whether the service is up`,
          'backoff',
          error,
        );
      });
    return explainAnswer(sender.address, answer, apiKey);
  } finally {
    await sender.close();
  }
}

function explainAnswer(address: string, answer: TargetResponse, apiKey: string): string {
  const { status } = answer;
  const decision = classify(answer, Date.now(), apiKey);
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
    case 'foreign':
    case 'pause':
    case 'fail':
      throw new ConfigError(`${address}: ${decision.message}`);
  }
}

/** Some services refuse an empty batch: they understood it. */
const REFUSES_EMPTY = /empty|no events|at least (one|1)|without events/i;
