import { randomUUID } from 'node:crypto';
import type { Queryable } from '../database/db.ts';
import { invalidInput } from '../http/errors.ts';
import type { JsonObject } from '../http/json.ts';
import { ingestWithin } from './ingest/ingest.ts';
import { MAX_PROFILE_CHARACTERS } from './limits.ts';
import { parseEvent } from './request/parse-event.ts';

/** An event that a request of the API causes; its time is now. */
export interface CapturedEvent {
  readonly event: string;
  readonly distinctId: string;
  /** Numbers may be ExactNumber. */
  readonly properties: JsonObject;
}

/**
 * Ingests an event within the caller's transaction, in the same way as one that a client sent: persons have
 * one writer. Refuses (400) what a client could not send either.
 */
export async function captureEvent(
  tx: Queryable,
  projectId: number,
  { event, distinctId, properties }: CapturedEvent,
  nowMs: number,
): Promise<void> {
  const parsed = parseEvent(
    { event, $distinct_id: distinctId, properties },
    {
      nowMs,
      sentAtMs: undefined,
      defaultEvent: undefined,
      ip: undefined,
      createUuid: () => randomUUID(),
    },
  );
  const { warnings } = await ingestWithin(tx, projectId, [parsed.event]);
  // A sender of events finds the warning in the log. This caller waits for the change, so it is refused.
  if (warnings.person_properties_size_violation !== undefined) {
    throw invalidInput(`The properties of a person may have ${MAX_PROFILE_CHARACTERS} characters together.`);
  }
}
