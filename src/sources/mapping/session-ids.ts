import { createSessionUuid, encodeKey } from './event-id.ts';
import { parseIso, type ReadMs } from './timestamp.ts';

/** Sessions that are remembered: those of the records around. */
const KNOWN_SESSIONS = 10_000;

/**
 * Makes the `$session_id` of a session: `owner` names whose it is, and `session` is its start as the vendor
 * writes it. Undefined where that is no time. Neighbouring records share sessions, so their ids are remembered.
 * The rule of versions 1 and 2 of the mappings, which does not look at the time of the event.
 */
export function createReadSessionId(
  source: string,
  readStart: ReadMs,
): (owner: readonly string[], session: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (owner, session) => {
    const parts = [source, 'session', ...owner, session];
    const key = encodeKey(parts);
    let id = known.get(key);
    if (id === undefined && !known.has(key)) {
      const startMs = readStart(session);
      id = Number.isNaN(startMs) ? undefined : createSessionUuid(startMs, parts);
      if (known.size >= KNOWN_SESSIONS) known.clear();
      known.set(key, id);
    }
    return id;
  };
}

export interface SessionOfEvent {
  /** Whose session it is: a device. */
  readonly owner: string;
  /** Its start as the vendor writes it, by the clock of the device. */
  readonly session: string;
  /** Time of the event, corrected: ISO 8601 in UTC. */
  readonly time: string;
  /** The same moment by the clock of the device, in the same form, where the record says so. */
  readonly deviceTime: string | undefined;
}

/** A wrong clock is wrong by about the same all through a session; what differs is the way of each request. */
const CLOCK_STEP_MS = 15 * 60_000;

/** So that no event lies before the id of its session, however much its way took: half a step. */
const MARGIN_MS = CLOCK_STEP_MS / 2;

/** The destination ignores ids of sessions that are longer. */
const LONGEST_MS = 24 * 3_600_000;

interface KnownSession {
  session: string;
  /** NaN: what the vendor wrote is no time. */
  startMs: number;
  /** The last id that was made of it, and the time in it. */
  idMs: number;
  id: string;
}

/**
 * Makes the `$session_id` of an event: a UUIDv7 that is not later than the event, and at most 24 hours older. The
 * destination ignores any other. Undefined where there is none.
 *
 * A session starts by the clock of its device, and times of events are corrected. So the start is moved by what
 * separates both clocks in this record, in steps of a quarter of an hour: all records of a session move it alike,
 * although each was corrected by its own request. The time in the id is therefore up to 15 minutes earlier than the
 * start; sessions begin at their first event anyhow.
 * https://posthog.com/docs/data/sessions
 */
export function createReadSessionOfEvent(
  source: string,
  readStart: ReadMs,
): (of: SessionOfEvent) => string | undefined {
  /** The last session of each owner, by which nothing is made to look for it. */
  const known = new Map<string, KnownSession>();
  let lastOwner: string | undefined;
  let last: KnownSession | undefined;

  const findSession = (owner: string, session: string): KnownSession => {
    if (!last || owner !== lastOwner) {
      last = known.get(owner) ?? addOwner(owner);
      lastOwner = owner;
    }
    if (last.session !== session) {
      last.session = session;
      last.startMs = readStart(session);
      last.idMs = Number.NaN;
    }
    return last;
  };

  const addOwner = (owner: string): KnownSession => {
    const added = { session: '', startMs: Number.NaN, idMs: Number.NaN, id: '' };
    if (known.size >= KNOWN_SESSIONS) known.clear();
    known.set(owner, added);
    return added;
  };

  return ({ owner, session, time, deviceTime }) => {
    const found = findSession(owner, session);
    const timeMs = parseIso(time);
    const wrongByMs = deviceTime === undefined ? 0 : timeMs - parseIso(deviceTime);
    const idMs = found.startMs + Math.round(wrongByMs / CLOCK_STEP_MS) * CLOCK_STEP_MS - MARGIN_MS;
    // NaN fails both comparisons.
    if (!(idMs > 0 && idMs <= timeMs && timeMs - idMs <= LONGEST_MS)) return undefined;
    if (idMs !== found.idMs) {
      found.idMs = idMs;
      found.id = createSessionUuid(idMs, [source, 'session', owner, session]);
    }
    return found.id;
  };
}
