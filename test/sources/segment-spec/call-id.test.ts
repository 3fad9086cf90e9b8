import { describe, expect, it } from 'vitest';
import { createMapper } from '../create-mapper.ts';

/** One messageId on different calls: an order's number, say. */
const completed = {
  type: 'track',
  event: 'Order Completed',
  messageId: 'order-7',
  userId: 'u-1',
  timestamp: '2023-03-14T09:26:53.123Z',
  originalTimestamp: '2023-03-14T09:26:50.000Z',
  properties: { total: 9 },
};

describe.each(['segment', 'rudderstack'])('the id of a call archived by %s', (source) => {
  const toUuid = (call: object, version?: number) => {
    const outcome = createMapper(source, {}, { version })({ ...completed, ...call });
    return outcome.kind === 'mapped' ? outcome.events[0]?.uuid : outcome.kind;
  };

  it.each([
    ['name', { event: 'Order Refunded' }],
    ['kind', { type: 'page' }],
    ['person', { userId: 'u-2' }],
    ['time', { originalTimestamp: '2023-03-15T09:26:50.000Z' }],
    ['messageId', { messageId: 'order-8' }],
    ['time where the client sent none', { originalTimestamp: undefined, timestamp: '2023-03-15T09:26:53Z' }],
  ])('depends on its %s, so that calls which share a messageId are two events', (_, other) => {
    expect(toUuid(other)).not.toBe(toUuid({}));
  });

  it('is the same for a retry, whose timestamp is corrected again', () => {
    expect(toUuid({ timestamp: '2023-03-14T09:27:10.000Z', receivedAt: 'later' })).toBe(toUuid({}));
  });

  it('is the messageId where that is a UUID', () => {
    const messageId = '0C3E5A10-1111-4B6E-8F00-00000000A001';
    expect(toUuid({ messageId })).toBe(messageId.toLowerCase());
    expect(toUuid({ messageId, event: 'Other' })).toBe(messageId.toLowerCase());
  });

  it.each([undefined, null, '', '   ', true, {}])(
    'is that of the whole record where messageId is %j',
    (messageId) => {
      for (const version of [1, 2]) {
        expect(toUuid({ messageId, properties: { total: 1 } }, version)).not.toBe(
          toUuid({ messageId, properties: { total: 2 } }, version),
        );
      }
    },
  );

  it('was made of the messageId alone by the first version', () => {
    expect(toUuid({ event: 'Order Refunded', userId: 'u-2' }, 1)).toBe(toUuid({}, 1));
  });
});
