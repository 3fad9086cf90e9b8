import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, test } from 'vitest';
import { BatchBuilder } from '../../../src/deliver/batch-builder.ts';
import { addBatch, TimeCounts } from '../../../src/migrations/plan/event-times.ts';

const count = (zone: string, ...timestamps: string[]) => {
  const counts = new TimeCounts();
  for (const timestamp of timestamps) counts.add(timestamp);
  return counts.toEventTimes(zone, true);
};
const filledHours = (byHour: readonly number[]) =>
  byHour.flatMap((events, hour) => (events > 0 ? [[hour, events]] : []));

describe('toEventTimes', () => {
  test.each([
    ['UTC', '2024-01-31T23:59:59.999Z', '2024-01-31', 23],
    ['Europe/Berlin', '2024-01-31T23:00:00.000Z', '2024-02-01', 0],
    ['America/New_York', '2024-02-01T04:59:59.999Z', '2024-01-31', 23],
    ['Asia/Kolkata', '2024-01-31T18:30:00.000Z', '2024-02-01', 0],
    ['Asia/Kolkata', '2024-01-31T18:29:59.999Z', '2024-01-31', 23],
    ['Asia/Kathmandu', '2024-01-31T18:15:00.000Z', '2024-02-01', 0],
    // Clocks go from 2:00 to 3:00, and from 3:00 back to 2:00.
    ['Europe/Berlin', '2024-03-31T00:59:59.999Z', '2024-03-31', 1],
    ['Europe/Berlin', '2024-03-31T01:00:00.000Z', '2024-03-31', 3],
    ['Europe/Berlin', '2024-10-27T00:59:59.999Z', '2024-10-27', 2],
    ['Europe/Berlin', '2024-10-27T01:00:00.000Z', '2024-10-27', 2],
    ['UTC', '1969-12-31T23:59:59.999Z', '1969-12-31', 23],
  ])('in %s, %s is on %s at %i', (zone, timestamp, day, hour) => {
    const { byDay, byHour } = count(zone, timestamp);
    expect(byDay).toEqual([{ day, events: 1 }]);
    expect(filledHours(byHour)).toEqual([[hour, 1]]);
  });

  test('is what a calendar says, for any times', () => {
    const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'America/St_Johns', 'Pacific/Apia'];
    const time = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2030, 0) });
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.array(time, { maxLength: 20 }), (zone, times) => {
        const expected = times.map((ms) => DateTime.fromMillis(ms, { zone }));
        const { byDay, byHour } = count(zone, ...times.map((ms) => new Date(ms).toISOString()));
        const days = expected.map((one) => one.toISODate() ?? '').toSorted();
        expect(byDay.flatMap(({ day, events }) => Array.from({ length: events }, () => day))).toEqual(days);
        expect(byHour).toEqual(byHour.map((_, hour) => expected.filter((one) => one.hour === hour).length));
      }),
    );
  });
});

test('addBatch counts each event once, whatever its texts hold', () => {
  const batch = new BatchBuilder();
  const events = ['a', '"timestamp":"1999-01-01T00:00:00.000Z"'].map((event, index) => ({
    event,
    uuid: 'x',
    timestamp: `2024-01-0${index + 1}T05:00:00.000Z`,
    properties: { distinct_id: event, timestamp: '1998-01-01T00:00:00.000Z' },
  }));
  for (const event of events) batch.add(JSON.stringify(event));
  const counts = new TimeCounts();
  addBatch(counts, batch.take());
  expect(counts.toEventTimes('UTC', true).byDay).toEqual([
    { day: '2024-01-01', events: 1 },
    { day: '2024-01-02', events: 1 },
  ]);
});
