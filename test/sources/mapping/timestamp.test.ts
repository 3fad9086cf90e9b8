import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/lib/errors.ts';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { createReadIso, createReadTime, parseIso } from '../../../src/sources/mapping/timestamp.ts';

const utc = createReadIso('UTC');

describe('ISO text', () => {
  it.each([
    ['2023-03-14 09:26:53', '2023-03-14T09:26:53.000Z'],
    ['2023-03-14 09:26:53.1', '2023-03-14T09:26:53.100Z'],
    ['2023-03-14 09:26:53.123999', '2023-03-14T09:26:53.123Z'],
    ['2023-03-14T09:26:53,5Z', '2023-03-14T09:26:53.500Z'],
    ['2023-03-14t09:26:53z', '2023-03-14T09:26:53.000Z'],
    ['2023-03-14T09:26', '2023-03-14T09:26:00.000Z'],
    ['2023-03-14', '2023-03-14T00:00:00.000Z'],
    ['  2023-03-14 09:26:53 UTC ', '2023-03-14T09:26:53.000Z'],
    ['2023-03-14 09:26:53+00', '2023-03-14T09:26:53.000Z'],
    ['2023-03-14 01:26:53.25+0530', '2023-03-13T19:56:53.250Z'],
    ['2023-03-14T23:26:53-08:00', '2023-03-15T07:26:53.000Z'],
    ['2024-02-29 00:00:00', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29 00:00:00', '2000-02-29T00:00:00.000Z'],
    ['1970-01-01 00:00:00', '1970-01-01T00:00:00.000Z'],
    ['2100-12-31 23:59:59.999', '2100-12-31T23:59:59.999Z'],
  ])('reads %s', (text, iso) => {
    expect(utc(text)).toBe(iso);
  });

  it.each([
    '2023-02-29 00:00:00',
    '2023-02-30 00:00:00',
    '2100-02-29 00:00:00',
    '2023-04-31 00:00:00',
    '2023-13-01 00:00:00',
    '2023-00-10 00:00:00',
    '2023-01-00 00:00:00',
    '2023-01-01 24:00:00',
    '2023-01-01 23:60:00',
    '2023-01-01 23:59:60',
    '2023-01-01 23:59:5',
    '2023-01-01 23:59:59.',
    '2023-01-01 23',
    '2023-01-01T23:59:59 Europe/Berlin',
    '2023-01-01T23:59:59+14:01',
    '2023-01-01T23:59:59+1',
    '2023/01/01 00:00:00',
    '01/02/2023',
    '１２３４-01-01 00:00:00',
    '1969-12-31 23:59:59.999',
    '2101-01-01 00:00:00',
    '2101-01-01T00:30:00-01:00',
    '1970-01-01T00:30:00+01:00',
    '',
    'now',
    1678785000000,
    null,
    undefined,
    {},
  ])('refuses %j', (value) => {
    expect(utc(value)).toBeUndefined();
  });

  it('takes the declared zone only for text without one', () => {
    const tokyo = createReadIso('Asia/Tokyo');
    expect(tokyo('2023-03-14 09:26:53')).toBe('2023-03-14T00:26:53.000Z');
    expect(tokyo('2023-03-14 09:26:53Z')).toBe('2023-03-14T09:26:53.000Z');
    expect(tokyo('2023-03-14 09:26:53+01:00')).toBe('2023-03-14T08:26:53.000Z');
    expect(tokyo('1970-01-01 08:59:59')).toBeUndefined();
  });

  it('counts a time that clocks show twice as its first occurrence', () => {
    const berlin = createReadIso('Europe/Berlin');
    expect(berlin('2023-10-29 02:00:00')).toBe('2023-10-29T00:00:00.000Z');
    expect(berlin('2023-10-29 02:59:59')).toBe('2023-10-29T00:59:59.000Z');
    expect(berlin('2023-10-29 03:00:00')).toBe('2023-10-29T02:00:00.000Z');
  });

  it('moves a time that clocks skip on by the length of the gap', () => {
    const newYork = createReadIso('America/New_York');
    expect(newYork('2023-03-12 01:59:59')).toBe('2023-03-12T06:59:59.000Z');
    expect(newYork('2023-03-12 02:15:00')).toBe('2023-03-12T07:15:00.000Z');
    expect(newYork('2023-03-12 03:15:00')).toBe('2023-03-12T07:15:00.000Z');
    // Half an hour is what Lord Howe Island changes its clocks by.
    const lordHowe = createReadIso('Australia/Lord_Howe');
    expect(lordHowe('2023-10-01 02:10:00')).toBe('2023-09-30T15:40:00.000Z');
    expect(lordHowe('2023-10-01 02:30:00')).toBe('2023-09-30T15:30:00.000Z');
  });

  it('names what to write when the zone is unknown', () => {
    expect(() => createReadIso('Mars/Olympus')).toThrow(ConfigError);
    expect(() => createReadIso('Mars/Olympus')).toThrow(/"Mars\/Olympus".*Europe\/Berlin/);
  });
});

describe('epoch numbers', () => {
  it.each([
    ['epoch_s', 1678785000, '2023-03-14T09:10:00.000Z'],
    ['epoch_s', '1678785000.9996', '2023-03-14T09:10:00.999Z'],
    ['epoch_s', 1678785000.5, '2023-03-14T09:10:00.500Z'],
    ['epoch_ms', '1678785000123', '2023-03-14T09:10:00.123Z'],
    ['epoch_ms', ' 1678785000123.9 ', '2023-03-14T09:10:00.123Z'],
    ['epoch_us', 1678785000123456, '2023-03-14T09:10:00.123Z'],
    ['epoch_ns', new ExactNumber('1678785000123999999'), '2023-03-14T09:10:00.123Z'],
  ])('reads %s %s without rounding', (format, value, iso) => {
    expect(createReadTime(format, 'Asia/Tokyo')(value)).toBe(iso);
  });

  it.each([
    ['epoch_s', 1678785000123],
    ['epoch_ms', 1678785000],
    ['epoch_us', 1678785000123],
    ['epoch_ns', 1678785000123456],
    ['epoch_ms', -1],
    ['epoch_ms', 0],
    ['epoch_s', '1.6e9'],
    ['epoch_s', '2023-03-14'],
    ['epoch_s', ''],
    ['epoch_s', '9'.repeat(400)],
    ['epoch_s', null],
    ['epoch_s', true],
    ['epoch_s', [1678785000]],
  ])('refuses %s %j, as a unit is declared and never guessed', (format, value) => {
    expect(createReadTime(format, 'UTC')(value)).toBeUndefined();
  });
});

describe('declared patterns', () => {
  it('reads day and month in the declared order', () => {
    expect(createReadTime('dd/MM/yyyy HH:mm', 'UTC')('03/04/2023 10:00')).toBe('2023-04-03T10:00:00.000Z');
    expect(createReadTime('M/d/yyyy h:mm a', 'UTC')('3/4/2023 1:05 PM')).toBe('2023-03-04T13:05:00.000Z');
    expect(createReadTime('dd/MM/yyyy HH:mm', 'UTC')('13/13/2023 10:00')).toBeUndefined();
  });

  it('lets an offset in the text win over the declared zone', () => {
    const read = createReadTime('yyyy-MM-dd HH:mm:ss ZZZ', 'Asia/Tokyo');
    expect(read('2023-03-14 09:26:53 +0100')).toBe('2023-03-14T08:26:53.000Z');
  });

  it('reads English month names on every machine', () => {
    expect(createReadTime('d MMMM yyyy', 'UTC')('14 March 2023')).toBe('2023-03-14T00:00:00.000Z');
  });
});

it('reads a time as Date.parse does, on whatever day the one before was', () => {
  const time = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(time, (date) => {
      expect(parseIso(date.toISOString())).toBe(date.getTime());
    }),
  );
});
