import { expect, it } from 'vitest';
import type { RecordCounts } from '../../../src/contract/progress.ts';
import { report as reportSchema } from '../../../src/migrations/report/report.ts';
import { addUpReports } from '../../../src/migrations/verify/outcomes-of.ts';

const counts = (delivered: number, rejected: number): RecordCounts => ({
  read: delivered + rejected,
  delivered,
  skipped: 0,
  duplicate: 0,
  rejected,
});
const report = (of: RecordCounts, day: string, distinct?: number) =>
  reportSchema.parse({
    migration: 'web',
    mapping: 'jsonl@1',
    destination: 'bundled API',
    counts: of,
    events: {
      sent: of.delivered,
      accepted: of.delivered,
      synthetic: 1,
      ...(distinct === undefined ? {} : { distinct }),
    },
    balanced: true,
    problems: [],
    rejectedShare: 0,
    byFile: [],
    byDay: { [day]: of },
    byEvent: { a: of },
    byReason: of.rejected > 0 ? { refused: of.rejected } : {},
    people: {
      pairs: 0,
      persons: 0,
      groups: 0,
      setAside: {},
      setAsideSample: [],
      events: { sent: 1, accepted: 1 },
      refusedCount: 0,
      refused: [],
    },
    unfinished: { parts: 0, partSample: [], files: [], failures: [], people: false },
  });

it('a replay takes the place of the rejects that it sends again', () => {
  const sum = addUpReports(report(counts(5, 3), '2024-02-01', 5), [report(counts(2, 1), '2024-02-01', 2)]);
  expect(sum.byEvent).toEqual({ a: counts(7, 1) });
  expect(sum).toMatchObject({ delivered: 7, distinct: 7, synthetic: 2, isOneToOne: true });
});

it('a replay may find the day that its migration did not know', () => {
  const sum = addUpReports(report(counts(0, 3), 'unknown', 0), [report(counts(3, 0), '2024-02-01', 3)]);
  expect(sum.byDay).toEqual({ unknown: counts(0, 3), '2024-02-01': counts(3, 0) });
  expect(sum.byEvent).toEqual({ a: counts(3, 0) });
});

it('a record of two events is known as such, though another record repeats one of them', () => {
  const one = report(counts(2, 0), '2024-02-01', 2);
  const several = { ...one, events: { ...one.events, several: true as const } };
  expect(addUpReports(one, [])).toMatchObject({ distinct: 2, isOneToOne: true });
  expect(addUpReports(several, [])).toMatchObject({ distinct: 2, isOneToOne: false });
  expect(addUpReports(one, [several]).isOneToOne).toBe(false);
});

it('records of several events, and repeats that are not counted, are known as such', () => {
  expect(addUpReports(report(counts(2, 0), '2024-02-01', 6), []).isOneToOne).toBe(false);
  expect(addUpReports(report(counts(2, 0), '2024-02-01'), [])).toMatchObject({
    isOneToOne: true,
    distinct: undefined,
  });
});
