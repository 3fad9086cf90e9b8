import { encodeKey } from '../mapping/event-id.ts';
import { readText } from '../mapping/identity.ts';
import { createReadSessionId, createReadSessionOfEvent } from '../mapping/session-ids.ts';
import type { Fields } from '../mapping/table.ts';
import { createReadIso, readEpochMs } from '../mapping/timestamp.ts';

/** The `$session_id` of an event at a time; undefined where there is none. */
export type ReadSession = (record: Fields, session: string, time: string) => string | undefined;

function readOwner(record: Fields): [app: string, owner: string] {
  const owner =
    readText(record['device_id']) ?? readText(record['user_id']) ?? readText(record['amplitude_id']);
  return [readText(record['app']) ?? '', owner ?? ''];
}

const readByStart = createReadSessionId('amplitude', readEpochMs);

/** Versions 1 and 2: an id is made of the start alone. */
export const readSessionByStart: ReadSession = (record, session) => readByStart(readOwner(record), session);

/**
 * Version 3. `session_id` is the start by the clock of the device, as `client_event_time` is; `event_time` is
 * corrected.
 * https://amplitude.com/docs/apis/analytics/export#response-schema
 */
export function createReadSession(timezone: string): ReadSession {
  const readTime = createReadIso(timezone);
  // Neighbouring records have one owner; its key is long.
  let lastOwner: readonly [string, string] | undefined;
  let lastKey = '';
  const toKey = (owner: readonly [string, string]): string => {
    if (owner[0] !== lastOwner?.[0] || owner[1] !== lastOwner[1]) lastKey = encodeKey(owner);
    lastOwner = owner;
    return lastKey;
  };
  const read = createReadSessionOfEvent('amplitude', readEpochMs);
  return (record, session, time) =>
    read({
      owner: toKey(readOwner(record)),
      session,
      time,
      deviceTime: readTime(record['client_event_time']),
    });
}
