import { expect, test } from 'vitest';
import { parsePage, renderPage } from '../../src/api/paging.ts';

test('takes what it cannot read for not given', () => {
  expect(parsePage({})).toEqual({ limit: 100, offset: 0 });
  expect(parsePage({ limit: '7', offset: '3' })).toEqual({ limit: 7, offset: 3 });
  for (const bad of ['0', '-1', 'x', '', '1.5', '99999999999999999999']) {
    expect(parsePage({ limit: bad, offset: bad })).toEqual({ limit: 100, offset: 0 });
  }
});

test('links to the pages around this one with absolute addresses that keep the other parameters', () => {
  const page = renderPage('http://host/x/?offset=10&search=a%26b&limit=5', { limit: 5, offset: 10 }, 16, []);
  expect(page.next).toBe('http://host/x/?search=a%26b&limit=5&offset=15');
  expect(page.previous).toBe('http://host/x/?search=a%26b&limit=5&offset=5');
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
