import type { PropertyList } from '../../lib/json/property-list.ts';
import { readText } from '../mapping/identity.ts';
import { createReadSessionOfEvent } from '../mapping/session-ids.ts';
import { asFields, type Fields, hasValue } from '../mapping/table.ts';
import { type ReadMs, type ReadTime, readEpochMs, readEpochSeconds } from '../mapping/timestamp.ts';
import type { OnNote } from '../source.ts';
import { readDeviceTime } from './call-time.ts';

/** The start of a session: in ms from browsers, in s from phones, or any number the customer chose. */
export const readSessionStart: ReadMs = (session) => {
  const { length } = readText(session) ?? '';
  return length === 13 ? readEpochMs(session) : length === 10 ? readEpochSeconds(session) : Number.NaN;
};

/** The session of a call that became an event at a time. */
export type SetSession = (properties: PropertyList, record: Fields, time: string) => void;

/**
 * `context.sessionId` is what RudderStack's clients and some of Segment's send. What makes no `$session_id` stays as
 * the number that it was.
 * https://www.rudderstack.com/docs/sources/event-streams/sdks/session-tracking/
 */
export function createSetSession(source: string, readTime: ReadTime, onNote: OnNote): SetSession {
  const readSessionId = createReadSessionOfEvent(source, readSessionStart);
  return (properties, record, time) => {
    const context = asFields(record['context']);
    const given = hasValue(context?.['sessionId']) ? context?.['sessionId'] : context?.['session_id'];
    const session = readText(given);
    if (session === undefined || session === '') return;
    const owner = readText(record['anonymousId']) ?? readText(record['userId']) ?? '';
    const deviceTime = readDeviceTime(record, readTime);
    const id = readSessionId({ owner, session, time, deviceTime });
    if (id !== undefined) properties.set('$session_id', id);
    else {
      properties.set(`${source}_session_id`, session);
      onNote('no_session_id');
    }
  };
}
