import { expect, test } from 'vitest';
import { ExactNumber } from '../../../../src/lib/json/exact-number.ts';
import { parseTime, readEventTime } from '../../../../src/server/capture/request/event-time.ts';

const now = Date.parse('2024-06-01T12:00:00.000Z');
const HOUR = 3_600_000;
const at = (claims: { timestamp?: unknown; offset?: unknown; sentAtMs?: number }) => {
  const { timeMs, warning } = readEventTime(
    { timestamp: claims.timestamp, offset: claims.offset, sentAtMs: claims.sentAtMs },
    now,
  );
  return [new Date(timeMs).toISOString(), warning];
};

test('takes a timestamp as it is when the request does not say when it was sent', () => {
  expect(at({ timestamp: '2019-02-03T04:05:06.789Z' })).toEqual(['2019-02-03T04:05:06.789Z', undefined]);
});

test('takes the skew of the clock out when it does', () => {
  const sentAtMs = now - HOUR; // the client's clock is an hour behind
  expect(at({ timestamp: '2024-06-01T10:59:00Z', sentAtMs })).toEqual([
    '2024-06-01T11:59:00.000Z',
    undefined,
  ]);
});

test('lets an offset go before the timestamp', () => {
  expect(at({ timestamp: '2019-01-01T00:00:00Z', offset: 60_000 })).toEqual([
    '2024-06-01T11:59:00.000Z',
    undefined,
  ]);
});

test('takes an offset of 0, and one that is no number, for none', () => {
  for (const offset of [0, '0', -0, null, 'soon', true, [], {}, new ExactNumber('0.0'), Number.NaN]) {
    expect(at({ timestamp: '2019-01-01T00:00:00Z', offset })).toEqual([
      '2019-01-01T00:00:00.000Z',
      undefined,
    ]);
  }
  expect(at({ timestamp: '2019-01-01T00:00:00Z', offset: '1' })).toEqual([
    '2024-06-01T11:59:59.999Z',
    undefined,
  ]);
});

test('takes a year 1 for what it is, and whatever lies before it for unreadable', () => {
  expect(at({ timestamp: '0001-01-01T00:00:00Z' })).toEqual(['0001-01-01T00:00:00.000Z', undefined]);
  expect(at({ timestamp: '0000-12-31T23:59:59.999Z' })).toEqual([
    '2024-06-01T12:00:00.000Z',
    'ignored_invalid_timestamp',
  ]);
});

test('reads no text that is longer than any time, however slow it is made', () => {
  const padded = (length: number) => `2020-01-01T00:00:00Z${' '.repeat(length - 20)}`;
  expect(parseTime(padded(128))).toBe(Date.parse('2020-01-01T00:00:00Z'));
  expect(parseTime(padded(129))).toBeUndefined();
  expect(parseTime(':1'.repeat(5_000_000))).toBeUndefined();
});

test('uses now where there is no time, and says so where it cannot be read', () => {
  expect(at({})).toEqual(['2024-06-01T12:00:00.000Z', undefined]);
  expect(at({ timestamp: 'soon' })).toEqual(['2024-06-01T12:00:00.000Z', 'ignored_invalid_timestamp']);
  expect(at({ timestamp: {} })).toEqual(['2024-06-01T12:00:00.000Z', 'ignored_invalid_timestamp']);
  expect(at({ timestamp: -9e15 })).toEqual(['2024-06-01T12:00:00.000Z', 'ignored_invalid_timestamp']);
});

test('lets a time be 23 hours ahead and no more', () => {
  expect(at({ timestamp: now + 23 * HOUR })).toEqual(['2024-06-02T11:00:00.000Z', undefined]);
  expect(at({ timestamp: now + 23 * HOUR + 1 })).toEqual([
    '2024-06-01T12:00:00.000Z',
    'event_timestamp_in_future',
  ]);
});

test.each([
  ['2020-08-16 09:03:11.913767', '2020-08-16T09:03:11.913Z'],
  ['2020-08-16T09:03', '2020-08-16T09:03:00.000Z'],
  ['2020-08-16', '2020-08-16T00:00:00.000Z'],
  ['2020-08-16 09:03:11+02:00', '2020-08-16T07:03:11.000Z'],
  ['2020-08-16T09:03:11-0500', '2020-08-16T14:03:11.000Z'],
  ['Aug 16, 2020 09:03', '2020-08-16T09:03:00.000Z'],
  ['Aug 16, 2020 9:03 PM', '2020-08-16T21:03:00.000Z'],
  ['2020-08-16 09:03:11 +0200', '2020-08-16T07:03:11.000Z'],
  ['Sun, 16 Aug 2020 09:03:11 GMT', '2020-08-16T09:03:11.000Z'],
  ['2020-08-16T09:03:11.5+02', '2020-08-16T07:03:11.500Z'],
  ['2020-08-16 09:03:11,913Z', '2020-08-16T09:03:11.913Z'],
  ['20200816T090311Z', '2020-08-16T09:03:11.000Z'],
  ['20200816', '2020-08-16T00:00:00.000Z'],
  ['2020-W33-7', '2020-08-16T00:00:00.000Z'],
  ['2020-229', '2020-08-16T00:00:00.000Z'],
  ['Sun Aug 16 2020 09:03:11 GMT+0200 (Central European Summer Time)', '2020-08-16T07:03:11.000Z'],
  [1_597_568_591_913, '2020-08-16T09:03:11.913Z'],
  [new ExactNumber('1597568591913.1234567'), '2020-08-16T09:03:11.913Z'],
])('reads %s, in UTC whatever the zone of this machine', (value, expected) => {
  expect(new Date(parseTime(value) ?? 0).toISOString()).toBe(expected);
});
