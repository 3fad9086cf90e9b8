import { expect, it } from 'vitest';
import type { MapNote } from '../../../src/sources/source.ts';
import { createMapper } from '../create-mapper.ts';

/** https://amplitude.com/docs/apis/analytics/export: session_id and client_event_time are of the device's clock. */

const START = Date.UTC(2023, 2, 14, 9);

const text = (ms: number) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '000');
const toMs = (uuid: unknown) => Number.parseInt(String(uuid).replace('-', '').slice(0, 12), 16);

/** An event so long after the start of its session, by a clock that is so far behind. */
function mapEvent(afterMs: number, behindMs: number, session: unknown = START) {
  const notes: MapNote[] = [];
  const map = createMapper('amplitude', {}, { version: 3, onNote: (note) => notes.push(note) });
  const outcome = map({
    event_type: 'Opened',
    device_id: 'd-1',
    session_id: session,
    client_event_time: text(START + afterMs),
    event_time: text(START + afterMs + behindMs),
  });
  const properties = outcome.kind === 'mapped' ? outcome.events[0]?.properties : undefined;
  return { id: properties?.['$session_id'], number: properties?.['amplitude_session_id'], notes };
}

it.each([
  ['a good clock', 0],
  ['a clock that is two seconds ahead', -2_000],
  ['a clock that is three days behind', 3 * 86_400_000],
])('all events of a session have one id, not later than the first, with %s', (_, behindMs) => {
  const events = [0, 10, 3_600_000].map((afterMs) => mapEvent(afterMs, behindMs));
  expect(new Set(events.map(({ id }) => id)).size).toBe(1);
  expect(toMs(events[0]?.id)).toBeLessThanOrEqual(START + behindMs);
  expect(START + behindMs - toMs(events[0]?.id)).toBeLessThanOrEqual(15 * 60_000);
  expect(events.flatMap(({ notes }) => notes)).toEqual([]);
});

it.each([
  ['a day after its start', 25 * 3_600_000, START],
  ['before its start', -3_600_000, START],
  ['of what is no time', 0, 'soon'],
])('an event %s has no id, keeps the number, and is counted', (_, afterMs, session) => {
  expect(mapEvent(afterMs, 0, session)).toEqual({ id: undefined, number: session, notes: ['no_session_id'] });
});

it.each([-1, '-1', null, ''])('an event outside of any session (%j) is not counted', (session) => {
  expect(mapEvent(0, 0, session)).toEqual({ id: undefined, number: undefined, notes: [] });
});
