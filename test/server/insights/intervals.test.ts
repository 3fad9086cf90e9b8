import fc from 'fast-check';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { formatDay } from '../../../src/charts/format.ts';
import { cutRange } from '../../../src/server/insights/intervals.ts';
import { parseDateRange } from '../../../src/server/query/date-range.ts';
import { addIntervals, INTERVALS } from '../../../src/server/query/interval.ts';

const day = fc
  .date({ min: new Date('0100-01-01'), max: new Date('9998-12-31'), noInvalidDate: true })
  .map((date) => date.getTime());

test('buckets say when they begin and end, in any year', () => {
  fc.assert(
    fc.property(day, fc.constantFrom(...INTERVALS), (now, interval) => {
      const dateFrom = interval === 'hour' ? '-30h' : '-100d';
      const { starts, ends, days, labels } = cutRange(parseDateRange({ dateFrom, interval }, { now }));
      expect(starts.length).toBeGreaterThan(2);
      for (const [index, start] of starts.entries()) {
        const date = DateTime.fromISO(start, { zone: 'utc', locale: 'en' });
        if (!date.isValid) throw new Error(`${start} is no time`);
        const time = interval === 'hour';
        expect(ends[index]).toBe(addIntervals(date, 1, interval).toISO());
        expect(days[index]).toBe(date.toFormat(time ? 'yyyy-MM-dd HH:mm:ss' : 'yyyy-MM-dd'));
        expect(labels[index]).toBe(date.toFormat(time ? 'd-MMM-yyyy HH:mm' : 'd-MMM-yyyy'));
        expect(formatDay(days[index] ?? '')).toBe(date.toFormat(time ? 'd LLL yyyy, HH:mm' : 'd LLL yyyy'));
      }
    }),
    { numRuns: 40 },
  );
});
