import { randomUUID } from 'node:crypto';
import type { Capture } from '../capture-port.ts';
import { ingestWithin } from './ingest.ts';
import { parseEvent } from './parse-event.ts';

/** Events that other rooms bring about take the way of all events. */
export function createCapture(now: () => number): Capture {
  return async (tx, projectId, { event, distinctId, properties }) => {
    const parsed = parseEvent(
      { event, $distinct_id: distinctId, properties },
      {
        nowMs: now(),
        sentAtMs: undefined,
        defaultEvent: undefined,
        ip: undefined,
        lossless: true,
        createUuid: randomUUID,
      },
    );
    await ingestWithin(tx, projectId, [parsed.event], randomUUID);
  };
}
