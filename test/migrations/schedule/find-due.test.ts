import { describe, expect, it } from 'vitest';
import { findDue, listNext } from '../../../src/migrations/schedule/find-due.ts';

const daily = { cron: '0 6 * * *', timezone: 'UTC', since: '2024-03-01T12:00:00.000Z' };
const ran = (due: string, endedAt = due) => ({ due, endedAt });

function find(schedule: typeof daily, last: ReturnType<typeof ran> | undefined, now: string) {
  const found = findDue(schedule, last, new Date(now));
  return found && { due: found.due.toISOString(), missed: found.missed };
}

describe('a run', () => {
  it('is due from its moment on, and not before', () => {
    expect(find(daily, undefined, '2024-03-02T05:59:59.999Z')).toBeUndefined();
    expect(find(daily, undefined, '2024-03-02T06:00:00.000Z')).toEqual({
      due: '2024-03-02T06:00:00.000Z',
      missed: 0,
    });
  });

  it('is not due again once it was run', () => {
    const last = ran('2024-03-02T06:00:00.000Z');
    expect(find(daily, last, '2024-03-03T05:59:59.999Z')).toBeUndefined();
    expect(find(daily, last, '2024-03-03T06:00:00.000Z')).toMatchObject({ missed: 0 });
  });

  it('is one for all moments that have passed, and says how many were missed', () => {
    expect(find(daily, ran('2024-03-02T06:00:00.000Z'), '2024-03-06T09:00:00Z')).toEqual({
      due: '2024-03-06T06:00:00.000Z',
      missed: 3,
    });
  });

  it('misses nothing while the run before it is under way', () => {
    const last = ran('2024-03-02T06:00:00.000Z', '2024-03-05T06:00:00.000Z');
    expect(find(daily, last, '2024-03-06T09:00:00Z')).toMatchObject({ missed: 0 });
    expect(find(daily, last, '2024-03-07T09:00:00Z')).toMatchObject({ missed: 1 });
  });

  it('is due still from the first moment on that nobody could run', () => {
    const unable = {
      ...ran('2024-03-02T06:00:00.000Z', '2024-03-02T06:02:00.000Z'),
      outcome: 'unable',
    } as const;
    expect(findDue(daily, unable, new Date('2024-03-04T09:00:00Z'))).toEqual({
      first: new Date('2024-03-02T06:00:00.000Z'),
      due: new Date('2024-03-04T06:00:00.000Z'),
      missed: 2,
    });
  });

  it('is not due for the time before the schedule was set or resumed', () => {
    const last = ran('2024-01-02T06:00:00.000Z');
    expect(find(daily, last, '2024-03-02T05:00:00Z')).toBeUndefined();
    expect(find(daily, last, '2024-03-02T07:00:00Z')).toMatchObject({ missed: 0 });
  });

  it.each([
    ['* * * * *', '2024-03-05T09:00:00.000Z'],
    ['0 6 * * *', '2024-03-05T06:00:00.000Z'],
    ['0 6 1 * *', '2024-03-01T06:00:00.000Z'],
    ['0 6 1 1 *', '2024-01-01T06:00:00.000Z'],
  ])('is due (%s) though a clock that was a year ahead has run or set the schedule', (cron, due) => {
    const now = '2024-03-05T09:00:30.000Z';
    const ahead = ran('2025-03-05T06:00:00.000Z');
    expect(find({ ...daily, cron }, ahead, now)).toEqual({ due, missed: 0 });
    expect(find({ ...daily, cron, since: ahead.due }, undefined, now)).toEqual({ due, missed: 0 });
    // Once it was run by a right clock, it waits for its next moment.
    for (const since of [daily.since, ahead.due])
      expect(find({ ...daily, cron, since }, ran(due, now), now)).toBeUndefined();
  });

  it('waits where the clock of the last run was ahead by less than five minutes', () => {
    const now = '2024-03-05T05:58:00.000Z';
    expect(find(daily, ran('2024-03-05T06:00:00.000Z'), now)).toBeUndefined();
    expect(find({ ...daily, since: '2024-03-05T06:02:59.999Z' }, undefined, now)).toBeUndefined();
  });

  it('is found after years of a schedule of every minute', () => {
    const now = '2030-03-01T00:00:00.000Z';
    expect(find({ ...daily, cron: '* * * * *' }, undefined, now)?.due).toBe(now);
  });
});

describe('in a time zone', () => {
  const berlin = { cron: '30 2 * * *', timezone: 'Europe/Berlin' };
  const next = (after: string, count: number) =>
    listNext(berlin, new Date(after), count).map((moment) => moment.toISOString());

  it('follows the clocks', () => {
    expect(next('2024-06-01T12:00:00Z', 1)).toEqual(['2024-06-02T00:30:00.000Z']);
    expect(next('2024-12-01T12:00:00Z', 1)).toEqual(['2024-12-02T01:30:00.000Z']);
  });

  it('leaves no day out where clocks are put forward', () => {
    expect(next('2024-03-30T12:00:00Z', 2)).toEqual(['2024-03-31T01:30:00.000Z', '2024-04-01T00:30:00.000Z']);
  });

  it('finds every moment that it announces, and in the same order, where clocks are put back', () => {
    const announced = next('2024-10-26T12:00:00Z', 4);
    let last = '2024-10-26T00:30:00.000Z';
    for (const moment of announced) {
      const found = findDue({ ...berlin, since: last }, ran(last), new Date(moment));
      expect(found).toEqual({ due: new Date(moment), first: new Date(moment), missed: 0 });
      last = moment;
    }
  });
});
