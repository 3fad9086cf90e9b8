import { expect, test } from 'vitest';
import { renderDates, renderInsightDates } from '../../../../src/server/dashboards/sharing/render-dates.ts';
import type { JsonObject } from '../../../../src/server/http/json.ts';
import type { StoredInsight } from '../../../../src/server/insights/store.ts';

test.each([
  [{}, undefined],
  [{ date_from: null, date_to: '' }, undefined],
  [{ date_from: 5 }, undefined],
  [{ date_from: '-30d' }, 'Last 30 days'],
  [{ date_from: '-1d' }, 'Last day'],
  [{ date_from: '-6m', date_to: null }, 'Last 6 months'],
  [{ date_from: '-24h' }, 'Last 24 hours'],
  [{ date_from: 'all' }, 'All time'],
  [{ date_from: 'dStart' }, 'Today'],
  [{ date_from: '-0mStart' }, 'This month'],
  [{ date_from: '-1dStart', date_to: '-1dEnd' }, 'Yesterday'],
  [{ date_from: '2024-01-01', date_to: '2024-01-31' }, '1 January 2024 to 31 January 2024'],
  [{ date_from: '2024-01-01T00:00:00Z' }, 'Since 1 January 2024'],
  [{ date_to: '2024-01-31' }, 'Until 31 January 2024'],
  [{ date_from: '-1mStart', date_to: '-1mEnd' }, '-1mStart to -1mEnd'],
  [{ date_from: '2024-99-99' }, 'Since 2024-99-99'],
])('%j reads %s', (range, words) => {
  expect(renderDates(range)).toBe(words);
});

const insight = (filters: JsonObject, query: JsonObject | null = null) =>
  renderInsightDates({ filters, query } as StoredInsight);

test('an insight has its own dates, or those that are meant where none are given', () => {
  expect(insight({ date_from: '-14d' })).toBe('Last 14 days');
  expect(insight({})).toBe('Last 7 days');
  expect(insight({ insight: 'RETENTION', date_from: '-14d' })).toBeUndefined();
  expect(insight({}, { source: { kind: 'TrendsQuery', dateRange: { date_from: '-2w' } } })).toBe(
    'Last 2 weeks',
  );
  expect(insight({}, { kind: 'TrendsQuery' })).toBe('Last 7 days');
  expect(insight({}, { source: { kind: 'RetentionQuery' } })).toBeUndefined();
});
