import fc from 'fast-check';
import { Settings } from 'luxon';
import { afterEach, expect, it } from 'vitest';
import { createReadTime } from '../../../src/sources/mapping/timestamp.ts';

const SUMMER = Date.UTC(2024, 6, 1);
const WINTER = Date.UTC(2025, 0, 1);
const { now } = Settings;
afterEach(() => {
  Settings.now = now;
});

/** In the same zones, these days have an hour that occurs twice, or one that never occurs. */
const DAYS = [
  '2023-10-29',
  '2023-03-26',
  '2023-11-05',
  '2023-03-12',
  '2023-04-02',
  '2023-10-01',
  '2023-06-15',
];
const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata', 'UTC'];

it.each([SUMMER, WINTER])(
  'a zone that a text names has its clock changes, whatever today is (%d)',
  (today) => {
    Settings.now = () => today;
    const read = createReadTime('yyyy-MM-dd HH:mm z', 'UTC');
    expect(read('2023-10-29 02:30 Europe/Berlin')).toBe('2023-10-29T00:30:00.000Z');
    expect(read('2023-10-29 03:30 Europe/Berlin')).toBe('2023-10-29T02:30:00.000Z');
    expect(read('2023-11-05 01:30 America/New_York')).toBe('2023-11-05T05:30:00.000Z');
    expect(read('2023-10-29 02:30 Europe/Nowhere')).toBeUndefined();
  },
);

it('reads a zone of the text as it reads that of the manifest', () => {
  const minute = fc.integer({ min: 0, max: 4 * 60 });
  fc.assert(
    fc.property(
      fc.constantFrom(...DAYS),
      minute,
      fc.constantFrom(...ZONES),
      fc.boolean(),
      (day, at, zone, isSummer) => {
        Settings.now = () => (isSummer ? SUMMER : WINTER);
        const clock = [Math.floor(at / 60), at % 60].map((part) => String(part).padStart(2, '0')).join(':');
        const named = createReadTime('yyyy-MM-dd HH:mm z', 'Asia/Tokyo')(`${day} ${clock} ${zone}`);
        expect(named).toBe(createReadTime('yyyy-MM-dd HH:mm', zone)(`${day} ${clock}`));
      },
    ),
    { numRuns: 500 },
  );
});

it('takes an offset of the text at its word', () => {
  const read = createReadTime('yyyy-MM-dd HH:mm ZZ', 'Europe/Berlin');
  expect(read('2023-10-29 02:30 +02:00')).toBe('2023-10-29T00:30:00.000Z');
  expect(read('2023-10-29 02:30 +01:00')).toBe('2023-10-29T01:30:00.000Z');
});
