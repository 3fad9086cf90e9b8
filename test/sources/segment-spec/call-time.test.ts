import { describe, expect, it } from 'vitest';
import type { MapNote } from '../../../src/sources/source.ts';
import { createMapper } from '../create-mapper.ts';

/** https://segment.com/docs/connections/spec/common/#timestamps */

const received = '2023-03-14T10:00:00.000Z';

const mapTime = (times: object) => {
  const notes: MapNote[] = [];
  const map = createMapper('segment', {}, { version: 3, onNote: (note) => notes.push(note) });
  const outcome = map({ type: 'track', event: 'Opened', userId: 'u-1', messageId: 'm', ...times });
  return {
    time: outcome.kind === 'mapped' ? outcome.events[0]?.timestamp : outcome.kind,
    notes,
  };
};

describe('the time of a call', () => {
  it.each([
    [
      'timestamp, which is corrected',
      { timestamp: '2023-03-14T09:00:00Z', receivedAt: received },
      '09:00:00',
      [],
    ],
    [
      'timestamp, whatever the other clocks say',
      {
        timestamp: '2023-03-14T09:00:00Z',
        originalTimestamp: '2023-03-14T08:00:00Z',
        sentAt: '2023-03-14T08:30:00Z',
        receivedAt: received,
      },
      '09:00:00',
      [],
    ],
    [
      'receivedAt - (sentAt - originalTimestamp)',
      { originalTimestamp: '2020-01-01T00:00:00Z', sentAt: '2020-01-01T00:30:00Z', receivedAt: received },
      '09:30:00',
      ['time_computed'],
    ],
    [
      'the same with sentAt as a number',
      {
        originalTimestamp: '2020-01-01T00:00:00Z',
        sentAt: Date.UTC(2020, 0, 1, 0, 30),
        receivedAt: received,
      },
      '09:30:00',
      ['time_computed'],
    ],
    [
      'originalTimestamp where nobody knows when it was sent',
      { originalTimestamp: '2023-03-14T08:00:00Z', receivedAt: received },
      '08:00:00',
      [],
    ],
    ['originalTimestamp alone', { originalTimestamp: '2023-03-14T08:00:00Z' }, '08:00:00', []],
    ['receivedAt alone', { receivedAt: received }, '10:00:00', []],
    [
      'receivedAt for a timestamp that is later',
      { timestamp: '2023-03-14T10:00:00.001Z', receivedAt: received },
      '10:00:00',
      ['time_after_arrival'],
    ],
    ['a timestamp of the same moment', { timestamp: received, receivedAt: received }, '10:00:00', []],
    [
      'the computed time for a timestamp that is later',
      {
        timestamp: '2023-03-15T00:00:00Z',
        originalTimestamp: '2023-03-15T00:00:00Z',
        sentAt: '2023-03-15T00:10:00Z',
        receivedAt: received,
      },
      '09:50:00',
      ['time_after_arrival'],
    ],
    [
      'receivedAt where the call was sent before it was made',
      { originalTimestamp: '2023-03-14T08:10:00Z', sentAt: '2023-03-14T08:00:00Z', receivedAt: received },
      '10:00:00',
      ['time_computed'],
    ],
    [
      'timestamp where receivedAt cannot be read',
      { timestamp: '2023-03-14T09:00:00Z', receivedAt: 'later' },
      '09:00:00',
      [],
    ],
  ] as const)('is %s', (_, times, clock, notes) => {
    expect(mapTime(times)).toEqual({ time: `2023-03-14T${clock}.000Z`, notes });
  });

  it('is no computed one where the clocks differ by more than there are years', () => {
    const times = {
      originalTimestamp: '1990-01-01T00:00:00Z',
      sentAt: '2099-01-01T00:00:00Z',
      receivedAt: received,
    };
    expect(mapTime(times)).toEqual({ time: '1990-01-01T00:00:00.000Z', notes: [] });
  });

  it('gives a retry the id of the call that it repeats', () => {
    const map = createMapper('segment');
    const toUuid = (times: object) => {
      const outcome = map({ type: 'track', event: 'Opened', userId: 'u-1', messageId: 'm', ...times });
      return outcome.kind === 'mapped' ? outcome.events[0]?.uuid : outcome.kind;
    };
    const late = { timestamp: '2023-03-15T00:00:00Z' };
    expect(toUuid({ ...late, receivedAt: received })).toBe(
      toUuid({ ...late, receivedAt: '2023-03-14T10:00:07.000Z' }),
    );
  });
});
