import { expect, it } from 'vitest';
import type { MapNote } from '../../../src/sources/source.ts';
import { createMapper } from '../create-mapper.ts';

/** https://www.rudderstack.com/docs/sources/event-streams/sdks/session-tracking/ */

const START = Date.UTC(2023, 2, 14, 9);

const mapSession = (source: string, context: object, time = '2023-03-14T09:00:05.000Z') => {
  const notes: MapNote[] = [];
  const map = createMapper(source, {}, { version: 3, onNote: (note) => notes.push(note) });
  const outcome = map({
    type: 'track',
    event: 'Opened',
    anonymousId: 'a-1',
    timestamp: time,
    originalTimestamp: time,
    context,
  });
  return { properties: outcome.kind === 'mapped' ? outcome.events[0]?.properties : outcome, notes };
};

it.each([
  ['rudderstack', 'in ms, from browsers', { sessionId: START }],
  ['rudderstack', 'in s, from phones', { sessionId: START / 1_000 }],
  ['rudderstack', 'as text', { sessionId: String(START) }],
  ['rudderstack', 'under its other name', { session_id: START }],
  ['segment', 'where a client sends one', { sessionId: START }],
])('a session of %s, %s, has an id', (source, _, context) => {
  const { properties, notes } = mapSession(source, context);
  expect(properties).toHaveProperty('$session_id');
  expect(notes).toEqual([]);
});

it.each([
  ['a number of the customer', { sessionId: 'own-1' }, 'own-1'],
  ['one of the day before', { sessionId: START - 25 * 3_600_000 }, String(START - 25 * 3_600_000)],
  ['one that starts later', { sessionId: START + 3_600_000 }, String(START + 3_600_000)],
])('a session that is %s stays a number, and is counted', (_, context, kept) => {
  for (const source of ['segment', 'rudderstack']) {
    const { properties, notes } = mapSession(source, context);
    expect(properties).toMatchObject({ [`${source}_session_id`]: kept });
    expect(properties).not.toHaveProperty('$session_id');
    expect(notes).toEqual(['no_session_id']);
  }
});

it('a call without a session has neither', () => {
  for (const context of [{}, { sessionId: '' }, { sessionId: null }, { sessionId: {} }]) {
    const { properties, notes } = mapSession('rudderstack', context);
    expect(Object.keys(properties ?? {}).filter((name) => name.includes('session'))).toEqual([]);
    expect(notes).toEqual([]);
  }
});
