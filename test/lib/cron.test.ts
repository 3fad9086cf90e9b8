import { describe, expect, it } from 'vitest';
import { DELETION_SCHEDULE, nextOccurrence } from '../../src/lib/cron.ts';

const next = (schedule: string, after: string) =>
  nextOccurrence(schedule, new Date(after))?.toISOString() ?? 'never';

describe('a schedule', () => {
  it('is the Sunday at 05:00 UTC that the contract names, where nothing else is set', () => {
    expect(next(DELETION_SCHEDULE, '2024-01-03T00:00:00Z')).toBe('2024-01-07T05:00:00.000Z');
  });

  it('names the moment after the one given, never that one itself', () => {
    expect(next(DELETION_SCHEDULE, '2024-01-07T04:59:59.999Z')).toBe('2024-01-07T05:00:00.000Z');
    expect(next(DELETION_SCHEDULE, '2024-01-07T05:00:00.000Z')).toBe('2024-01-14T05:00:00.000Z');
  });

  it.each([
    ['*/5 * * * *', '2024-01-03T00:05:00.000Z'],
    ['30 4 1,15 * *', '2024-01-15T04:30:00.000Z'],
    ['0 5 * * SUN', '2024-01-07T05:00:00.000Z'],
    ['0 5 * * 7', '2024-01-07T05:00:00.000Z'],
    ['0 0 29 2 *', '2024-02-29T00:00:00.000Z'],
  ])('reads %s', (schedule, at) => {
    expect(next(schedule, '2024-01-03T00:00:00Z')).toBe(at);
  });

  it.each([
    '',
    '0 5 * *',
    '0 5 * * 0 0',
    '60 5 * * 0',
    '0 24 * * 0',
    '0 0 30 2 *',
    '@weekly',
    'H 5 * * 0',
    'soon',
  ])('is not %j', (text) => {
    expect(next(text, '2024-01-03T00:00:00Z')).toBe('never');
  });
});
