import { expect, test } from 'vitest';
import {
  parseNumberedPage,
  parsePage,
  renderNumberedPage,
  renderPage,
} from '../../../src/server/http/paging.ts';

test('takes what it cannot read for not given', () => {
  expect(parsePage({}, 1000)).toEqual({ limit: 100, offset: 0 });
  expect(parsePage({ limit: '7', offset: '3' }, 1000)).toEqual({ limit: 7, offset: 3 });
  for (const bad of ['0', '-1', 'x', '', '1.5', '99999999999999999999']) {
    expect(parsePage({ limit: bad, offset: bad }, 1000)).toEqual({ limit: 100, offset: 0 });
  }
});

test('ends a page where the list says so, at the latest', () => {
  const limits = ['9', '10', '11'].map((limit) => parsePage({ limit }, 10).limit);
  expect(limits).toEqual([9, 10, 10]);
});

test('links to the pages around this one with absolute addresses that keep the other parameters', () => {
  const page = renderPage('http://host/x/?offset=10&search=a%26b&limit=5', { limit: 5, offset: 10 }, 16, []);
  expect(page.next).toBe('http://host/x/?search=a%26b&limit=5&offset=15');
  expect(page.previous).toBe('http://host/x/?search=a%26b&limit=5&offset=5');
});

test('puts no key into a link', () => {
  const page = renderPage('http://host/x/?personal_api_key=phx_1&search=a', { limit: 5, offset: 5 }, 16, []);
  expect([page.next, page.previous]).toEqual([
    'http://host/x/?search=a&limit=5&offset=10',
    'http://host/x/?search=a&limit=5&offset=0',
  ]);
});

test('has no next page after exactly the last result, and none before the first', () => {
  expect(renderPage('http://host/x/', { limit: 5, offset: 5 }, 10, [])).toMatchObject({
    next: null,
    previous: 'http://host/x/?limit=5&offset=0',
  });
  expect(renderPage('http://host/x/', { limit: 5, offset: 0 }, 6, [])).toMatchObject({
    next: 'http://host/x/?limit=5&offset=5',
    previous: null,
  });
  expect(renderPage('http://host/x/', { limit: 5, offset: 3 }, 6, []).previous).toBe(
    'http://host/x/?limit=5&offset=0',
  );
});

test('reads pages that have numbers, within bounds', () => {
  expect(parseNumberedPage({})).toEqual({ limit: 10, offset: 0 });
  expect(parseNumberedPage({ page: '3', limit: '7' })).toEqual({ limit: 7, offset: 14 });
  expect(parseNumberedPage({ page: '0', limit: 'x' })).toEqual({ limit: 10, offset: 0 });
  expect(parseNumberedPage({ page: '1000000000', limit: '1000' })).toMatchObject({ limit: 1000 });
  expect(() => parseNumberedPage({ limit: '1001' })).toThrow(/less than or equal to 1000/);
  expect(() => parseNumberedPage({ page: '1000000001' })).toThrow(/less than or equal to/);
});

test('links to numbered pages by their number alone, and counts under both names', () => {
  const page = renderNumberedPage('http://host/x/?page=2&limit=5', { limit: 5, offset: 5 }, 11, []);
  expect(page).toEqual({
    count: 11,
    total_count: 11,
    next: 'http://host/x/?limit=5&page=3',
    previous: 'http://host/x/?limit=5&page=1',
    results: [],
  });
  const last = renderNumberedPage('http://host/x/', { limit: 5, offset: 5 }, 10, []);
  expect(last).toMatchObject({ next: null, previous: 'http://host/x/?page=1' });
  expect(renderNumberedPage('http://host/x/', { limit: 5, offset: 0 }, 5, [])).toMatchObject({
    next: null,
    previous: null,
  });
});

test('leaves the offset out of the link to the first page where the service does', () => {
  const bare = (offset: number) =>
    renderPage('http://host/x/?offset=9', { limit: 5, offset }, 16, [], { bareFirst: true }).previous;
  expect(bare(5)).toBe('http://host/x/?limit=5');
  expect(bare(3)).toBe('http://host/x/?limit=5');
  expect(bare(6)).toBe('http://host/x/?limit=5&offset=1');
  expect(bare(0)).toBeNull();
});
