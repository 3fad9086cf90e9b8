import { createSessionUuid, encodeKey } from './event-id.ts';
import type { ReadTime } from './timestamp.ts';

/** Sessions that are remembered: those of the records around. */
const KNOWN_SESSIONS = 10_000;

/**
 * Makes the `$session_id` of a session: `owner` names whose it is, and `session` is its start as the vendor
 * writes it. Undefined where that is no time. Neighbouring records share sessions, so their ids are remembered.
 */
export function createReadSessionId(
  source: string,
  readStart: ReadTime,
): (owner: readonly string[], session: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (owner, session) => {
    const parts = [source, 'session', ...owner, session];
    const key = encodeKey(parts);
    let id = known.get(key);
    if (id === undefined && !known.has(key)) {
      const start = readStart(session);
      id = start === undefined ? undefined : createSessionUuid(Date.parse(start), parts);
      if (known.size >= KNOWN_SESSIONS) known.clear();
      known.set(key, id);
    }
    return id;
  };
}
