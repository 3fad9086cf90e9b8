import { describe, expect, test } from 'vitest';
import { parseManifest } from '../../../config/manifest/load-manifest.ts';
import { type Manifest, manifestSchema } from '../../../config/manifest/manifest.ts';
import { describeDifference, manifestIdentity } from '../../../config/manifest/manifest-identity.ts';
import { toTimeWindow } from '../../../config/manifest/window.ts';

const parse = (window: unknown, timezone = 'UTC'): Manifest =>
  manifestSchema.parse({
    name: 'a',
    source: { type: 'amplitude', from: 'x', timezone },
    ...(window === undefined ? {} : { window }),
  });

describe('a window', () => {
  test.each([
    [{ from: '2023-01-01' }, 'UTC', { from: '2023-01-01T00:00:00.000Z' }],
    [{ until: '2024-03-15T12:30' }, 'UTC', { until: '2024-03-15T12:30:00.000Z' }],
    [{ until: '2024-07-01' }, 'Europe/Berlin', { until: '2024-06-30T22:00:00.000Z' }],
    [{ until: '2024-01-01' }, 'Europe/Berlin', { until: '2023-12-31T23:00:00.000Z' }],
    [{ until: '2024-07-01', timezone: 'UTC' }, 'Europe/Berlin', { until: '2024-07-01T00:00:00.000Z' }],
    [{ until: '2024-07-01', timezone: '+05:30' }, 'UTC', { until: '2024-06-30T18:30:00.000Z' }],
    [{ until: '2024-07-01T10:00:01.5', timezone: '-03:00' }, 'UTC', { until: '2024-07-01T13:00:01.500Z' }],
    [{ until: '2024-07-01T10:00Z', timezone: '-03:00' }, 'UTC', { until: '2024-07-01T10:00:00.000Z' }],
    [{ until: '2024-07-01T10:00+02:00' }, 'Asia/Kolkata', { until: '2024-07-01T08:00:00.000Z' }],
    // The clock goes forward at 2:00: half past two is read with the offset before the change.
    [{ from: '2024-03-31T02:30' }, 'Europe/Berlin', { from: '2024-03-31T01:30:00.000Z' }],
  ])('%j in %s means %j', (window, timezone, moments) => {
    expect(toTimeWindow(parse(window, timezone))).toEqual(moments);
  });

  test('stays what it is when it is read again', () => {
    const once = parse({ from: '2023-01-01', until: '2024-03-15', timezone: 'Europe/Berlin' });
    expect(manifestSchema.parse(once)).toEqual(once);
    expect(toTimeWindow(parse(undefined))).toBeUndefined();
  });

  test.each([
    [{}, /from, until or both/],
    [{ from: 'yesterday' }, /takes a date such as 2024-03-15/],
    [{ from: '2024-02-30' }, /takes a date such as/],
    [{ from: 2024 }, /takes a date such as/],
    [{ until: '2024-03-15', timezone: 'CEST' }, /takes an IANA zone/],
    [{ until: '2024-03-15', timezone: '+25:00' }, /takes an IANA zone/],
    [{ from: '2024-03-15', until: '2024-03-15' }, /not after window.from/],
    [{ from: '2024-03-16', until: '2024-03-15' }, /not after window.from/],
    // One instant, written in two zones.
    [{ from: '2024-03-15T02:00+02:00', until: '2024-03-15T00:00Z' }, /not after window.from/],
    [{ to: '2024-03-15', from: '2024-01-01' }, /to/],
  ])('%j is refused', (window, message) => {
    expect(() => parse(window)).toThrow(message);
  });

  test('a mistake in it is told with its line', () => {
    const text =
      'name: a\nsource: { type: amplitude, from: x }\nwindow:\n  from: 2024-03-16\n  until: 2024-03-15\n';
    expect(() => parseManifest(text, 'a.yaml', { env: {} })).toThrow(
      'a.yaml:5:10  window.until: is 2024-03-15T00:00:00.000Z, which is not after window.from (2024-03-16T00:00:00.000Z); no event would be imported',
    );
  });

  test('is pinned: another one is another migration, another way to write it is not', () => {
    const identity = (window: unknown) => manifestIdentity(parse(window)).identity;
    const then = identity({ until: '2024-03-15' });
    expect(describeDifference(then, identity({ until: '2024-03-15T02:00+02:00' }))).toEqual([]);
    expect(describeDifference(then, identity({ until: '2024-03-16' }))).toEqual([
      'window.until: was "2024-03-15T00:00:00.000Z", is now "2024-03-16T00:00:00.000Z"',
    ]);
    expect(describeDifference(identity(undefined), then)).toEqual([
      'window.until: was not there, is now "2024-03-15T00:00:00.000Z"',
    ]);
  });
});
