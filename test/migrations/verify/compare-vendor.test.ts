import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordCounts } from '../../../src/contract/progress.ts';
import { compareVendor } from '../../../src/migrations/verify/compare-vendor.ts';
import { listUnexplained, type Row } from '../../../src/migrations/verify/comparison.ts';

const counts = (delivered: number, more: Partial<RecordCounts> = {}): RecordCounts => {
  const { skipped = 0, duplicate = 0, rejected = 0 } = more;
  return { read: delivered + skipped + duplicate + rejected, delivered, skipped, duplicate, rejected };
};

const compare = (
  vendor: { byDay?: Record<string, number>; byEvent?: Record<string, number> },
  report: {
    byDay?: Record<string, RecordCounts>;
    byEvent?: Record<string, RecordCounts>;
    byReason?: Record<string, number>;
  },
  dropped: readonly string[] = [],
) => {
  const { total, tables } = compareVendor(
    {
      byDay: new Map(Object.entries(vendor.byDay ?? {})),
      byEvent: new Map(Object.entries(vendor.byEvent ?? {})),
    },
    { byDay: report.byDay ?? {}, byEvent: report.byEvent ?? {}, byReason: report.byReason ?? {} },
    new Set(dropped),
  );
  const rowsOf = (by: string) => tables.find((table) => table.by === by)?.rows ?? [];
  return { total, days: rowsOf('day'), events: rowsOf('event') };
};

const explained = ({ causes, unexplained }: Row) => ({
  causes: causes.map(({ cause, count }) => [cause, count]),
  unexplained,
});

describe("the vendor's counts", () => {
  it('are equal', () => {
    const { events, days, total } = compare(
      { byDay: { '2024-02-01': 3 }, byEvent: { a: 3 } },
      { byDay: { '2024-02-01': counts(3) }, byEvent: { a: counts(3) } },
    );
    for (const row of [...events, ...days, total])
      expect(explained(row)).toEqual({ causes: [], unexplained: 0 });
  });

  it('are explained by what was skipped, repeated and rejected', () => {
    const { events, total } = compare(
      { byEvent: { a: 10 } },
      { byEvent: { a: counts(4, { skipped: 3, duplicate: 2, rejected: 1 }) } },
    );
    const expected = {
      causes: [
        ['skipped', -3],
        ['duplicate', -2],
        ['rejected', -1],
      ],
      unexplained: 0,
    };
    expect(events.map(explained)).toEqual([expected]);
    expect(explained(total)).toEqual(expected);
  });

  it('may leave repeats out', () => {
    const { events } = compare(
      { byEvent: { a: 8 } },
      { byEvent: { a: counts(5, { skipped: 3, duplicate: 2 }) } },
    );
    expect(events.map(explained)).toEqual([{ causes: [['skipped', -3]], unexplained: 0 }]);
  });

  it('name what no record stands for, on the day and under the name', () => {
    const { events, days, total } = compare(
      { byDay: { '2024-02-01': 10, '2024-02-02': 5 }, byEvent: { a: 10, b: 5 } },
      {
        byDay: { '2024-02-01': counts(7), '2024-02-02': counts(5) },
        byEvent: { a: counts(7), b: counts(5) },
      },
    );
    expect(days.map(({ unexplained }) => unexplained)).toEqual([-3, 0]);
    expect(events.map(({ unexplained }) => unexplained)).toEqual([-3, 0]);
    expect(total.unexplained).toBe(-3);
  });

  it('are of another zone: events are on the next day, beside what was rejected', () => {
    const { days } = compare(
      { byDay: { '2024-02-01': 10, '2024-02-02': 10 } },
      {
        byDay: {
          '2024-02-01': counts(7),
          '2024-02-02': counts(9, { rejected: 1 }),
          '2024-02-03': counts(3),
        },
      },
    );
    expect(days.map(({ unexplained }) => unexplained)).toEqual([0, 0, 0]);
    expect(days.map(explained)[2]?.causes).toEqual([['time_zone', 3]]);
  });

  it('are of another zone, and records without a time are missing as well', () => {
    const { days } = compare(
      { byDay: { '2024-02-01': 10, '2024-02-02': 10 } },
      {
        byDay: {
          '2024-02-01': counts(5),
          '2024-02-02': counts(10),
          '2024-02-03': counts(3),
          unknown: counts(0, { rejected: 2 }),
        },
      },
    );
    expect(days.map(({ unexplained }) => unexplained)).toEqual([0, 0, 0]);
    const causes = days.flatMap((row) => row.causes);
    expect(causes.filter(({ cause }) => cause === 'no_day')).toEqual([{ cause: 'no_day', count: -2 }]);
  });

  it('find an event under the name that the map gives it, where the number tells', () => {
    const { events } = compare(
      { byEvent: { 'Page Viewed': 12, gone: 4 } },
      { byEvent: { $pageview: counts(11, { rejected: 1 }) } },
    );
    expect(
      events.map((row) => [row.key, ...row.causes.map(({ cause, name }) => name ?? cause), row.unexplained]),
    ).toEqual([
      ['$pageview', 'Page Viewed', 'rejected', 0],
      ['Page Viewed', '$pageview', 0],
      ['gone', -4],
    ]);
  });

  it('count records that the report counts under no day and no name', () => {
    const { events, days } = compare(
      { byDay: { '2024-02-01': 5 }, byEvent: { a: 3, $identify: 2 } },
      {
        byDay: { '2024-02-01': counts(3), unknown: counts(0, { skipped: 2 }) },
        byEvent: { a: counts(3), '(none)': counts(0, { skipped: 2 }) },
      },
    );
    expect(days.map(explained)).toEqual([{ causes: [['no_day', -2]], unexplained: 0 }]);
    expect(events.map(explained)).toEqual([
      { causes: [['no_name', -2]], unexplained: 0 },
      { causes: [], unexplained: 0 },
    ]);
  });

  it.each([1, 2, 4])('do not take %i missing records for 3 without a day', (missing) => {
    const { days } = compare(
      { byDay: { '2024-02-01': 3 + missing } },
      { byDay: { '2024-02-01': counts(3), unknown: counts(0, { rejected: 3 }) } },
    );
    expect(days.map(({ unexplained }) => unexplained)).toEqual([-missing]);
  });

  it('find a name that is skipped whole by the number of its reason', () => {
    const { events } = compare(
      { byEvent: { a: 3, session_start: 9, other: 4 } },
      {
        byEvent: { a: counts(3), '(none)': counts(0, { skipped: 11 }) },
        byReason: { session_marker: 9, feeds_people: 2 },
      },
    );
    expect(events.map(({ causes, unexplained }) => [causes.map(({ name }) => name), unexplained])).toEqual([
      [[], 0],
      [[], -4],
      [['session_marker'], 0],
    ]);
  });

  it('lack a name that the manifest drops, and no other by its reason or in its place', () => {
    const report = {
      byEvent: { a: counts(3), '(none)': counts(0, { skipped: 3 }) },
      byReason: { excluded_by_manifest: 3 },
    };
    const unexplained = (byEvent: Record<string, number>, dropped: string[], of = report) =>
      compare({ byEvent }, of, dropped).events.map((row) => row.unexplained);
    expect(unexplained({ a: 3, Noise: 3 }, ['Noise'])).toEqual([0, 0]);
    expect(unexplained({ a: 3, Refund: 3 }, ['Noise'])).toEqual([-3, 0]);
    expect(unexplained({ a: 3, Noise: 3, Refund: 3 }, ['Noise'])).toEqual([0, -3, 0]);
    // More of it than the export had, and two names together.
    expect(unexplained({ a: 3, Noise: 4 }, ['Noise'])).toEqual([-4, 0]);
    expect(unexplained({ a: 3, Noise: 2, Steps: 1 }, ['Noise', 'Steps'])).toEqual([0, 0, 0]);
    const many = { ...report, byEvent: { ...report.byEvent, '(other)': counts(5) } };
    expect(unexplained({ a: 3, Noise: 3, x: 5 }, ['Noise'], many)).toEqual([0, 0, 0]);
  });

  it.each([
    ['a reason has the number of two names', { session_marker: 9, feeds_people: 2 }, 11],
    ['no nameless record is left for it', { session_marker: 9 }, 8],
    ['the reason is one of records with names', { before_window: 9, session_marker: 2 }, 11],
  ])('lack names that nothing explains where %s', (_, byReason, skipped) => {
    const { events } = compare(
      { byEvent: { session_start: 9, Refund: 9 } },
      { byEvent: { '(none)': counts(0, { skipped }) }, byReason },
    );
    expect(events.map(({ unexplained }) => unexplained)).toEqual([-9, -9]);
  });

  it('are counted under (other) where the report has too many names', () => {
    const { events } = compare(
      { byEvent: { a: 1, y: 2, z: 3 } },
      { byEvent: { a: counts(1), '(other)': counts(5) } },
    );
    expect(events.map(({ key, old, now }) => [key, old, now])).toEqual([
      ['(other)', 5, 5],
      ['a', 1, 1],
    ]);
  });

  const key = fc.constantFrom(
    '2024-02-01',
    '2024-02-02',
    '2024-02-03',
    '2024-02-05',
    'unknown',
    '(none)',
    '__proto__',
  );
  const outcomes = fc.record({
    delivered: fc.nat(20),
    skipped: fc.nat(5),
    duplicate: fc.nat(5),
    rejected: fc.nat(5),
  });
  it('always differ by what the causes say and what is left', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(key, fc.nat(30))),
        fc.array(fc.tuple(key, outcomes)),
        (vendor, report) => {
          const old = new Map(vendor);
          const by = Object.fromEntries(
            report.map(([name, { delivered, ...more }]) => [name, counts(delivered, more)]),
          );
          const comparison = compareVendor(
            { byDay: old, byEvent: old },
            { byDay: by, byEvent: by, byReason: {} },
          );
          for (const row of [comparison.total, ...comparison.tables.flatMap(({ rows }) => rows)]) {
            const sum = row.causes.reduce((all, { count }) => all + count, 0);
            expect(row.now - row.old).toBe(sum + row.unexplained);
          }
          const open = listUnexplained(comparison);
          expect(open.every(({ unexplained }) => unexplained !== 0)).toBe(true);
        },
      ),
    );
  });

  it('are explained whole where every record has its outcome and the vendor counts them all', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), outcomes), (report) => {
        const by = Object.fromEntries(
          Object.entries(report).map(([name, { delivered, ...more }]) => [name, counts(delivered, more)]),
        );
        const old = Object.fromEntries(Object.entries(by).map(([name, { read }]) => [name, read]));
        const { total, events } = compare({ byEvent: old }, { byEvent: by });
        expect([total, ...events].every(({ unexplained }) => unexplained === 0)).toBe(true);
      }),
    );
  });
});
