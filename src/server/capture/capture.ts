import { randomUUID } from 'node:crypto';
import type { Deletions } from '../deletions/deletion-port.ts';
import { invalidInput } from '../http/errors.ts';
import type { Capture } from './capture-port.ts';
import { ingestWithin } from './ingest.ts';
import { MAX_PROFILE_CHARACTERS } from './limits.ts';
import { parseEvent } from './request/parse-event.ts';

/** Events that other rooms bring about take the way of all events. */
export function createCapture(now: () => number, { release }: Pick<Deletions, 'release'>): Capture {
  const tools = { createUuid: randomUUID, release };
  return async (tx, projectId, { event, distinctId, properties }) => {
    const parsed = parseEvent(
      { event, $distinct_id: distinctId, properties },
      {
        nowMs: now(),
        sentAtMs: undefined,
        defaultEvent: undefined,
        ip: undefined,
        createUuid: randomUUID,
      },
    );
    const { warnings } = await ingestWithin(tx, projectId, [parsed.event], tools);
    // Who sends events is warned in the log; who waits for this one is told that it would change nothing.
    if (warnings.person_properties_size_violation !== undefined) {
      throw invalidInput(
        `The properties of a person may have ${MAX_PROFILE_CHARACTERS} characters together.`,
      );
    }
  };
}
