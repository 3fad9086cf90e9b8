import { describe, expect, it } from 'vitest';
import type { MapNote } from '../../src/sources/source.ts';
import { createMapper } from './create-mapper.ts';

const LONG = 'k'.repeat(201);
const FITS = 'k'.repeat(200);

const call = {
  userId: 'u-1',
  anonymousId: 'a-1',
  messageId: 'm-1',
  timestamp: '2024-02-03T04:05:06Z',
  traits: { name: 'x' },
};

describe.each([1, 2, 3])('version %i of the mapping of Segment', (version) => {
  const notes: MapNote[] = [];
  const map = createMapper('segment', {}, { version, onNote: (note) => notes.push(note) });

  it('rejects a group call whose key is longer than can be sent', () => {
    expect(map({ ...call, type: 'group', groupId: LONG })).toMatchObject({
      kind: 'rejected',
      reason: 'id_too_long',
    });
    expect(map({ ...call, type: 'group', groupId: FITS })).toMatchObject({
      kind: 'skipped',
      reason: 'feeds_groups',
    });
  });

  it('sends an event without such a group, and says so in the plan', () => {
    const track = { ...call, type: 'track', event: 'Bought' };
    const mapped = map({ ...track, context: { groupId: LONG } });
    expect(mapped).toMatchObject({ kind: 'mapped', events: [{ event: 'Bought' }] });
    expect(JSON.stringify(mapped)).not.toContain('$groups');
    expect(notes).toEqual(['long_group_key']);
    map({ ...track, context: { groupId: FITS } });
    expect(notes).toHaveLength(1);
  });
});

const event = {
  event_type: 'Bought',
  user_id: 'u-1',
  event_time: '2024-02-03 04:05:06',
  uuid: '11111111-1111-4111-8111-111111111111',
};
const about = (key: string) => ({ group_properties: { company: { [key]: { size: 3 } } } });

describe('the mapping of Amplitude', () => {
  const notes: MapNote[] = [];
  const createMap = (version?: number) =>
    createMapper('amplitude', {}, { version, onNote: (note) => notes.push(note) });
  const identify = { ...event, event_type: '$groupidentify' };

  it('rejects what is said of a group whose key is longer than can be sent', () => {
    expect(createMap()({ ...identify, ...about(LONG) })).toMatchObject({
      kind: 'rejected',
      reason: 'id_too_long',
    });
    expect(createMap()({ ...identify, ...about(FITS) })).toMatchObject({
      kind: 'skipped',
      facts: [{ kind: 'group', groupKey: FITS }],
    });
    // What earlier versions began is finished as it was begun.
    expect(createMap(2)({ ...identify, ...about(LONG) })).toMatchObject({ kind: 'skipped', facts: [] });
  });

  it('leaves such a group out of an event, and says so in the plan', () => {
    expect(createMap()({ ...event, ...about(LONG) })).toMatchObject({ kind: 'mapped', facts: [] });
    expect(notes).toEqual(['long_group_key']);
  });
});
