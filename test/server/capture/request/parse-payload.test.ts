import { expect, test } from 'vitest';
import { parsePayload } from '../../../../src/server/capture/request/parse-payload.ts';

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);

test('takes 100 levels and refuses one more', () => {
  expect(() => parsePayload(nested(100))).not.toThrow();
  expect(() => parsePayload(nested(101))).toThrow(/nested more than 100/);
});

test('refuses a hundred thousand levels on both paths without falling over', () => {
  expect(() => parsePayload(nested(100_000))).toThrow(/nested/);
  expect(() => parsePayload(`[12345678901234567890,${nested(100_000)}]`)).toThrow(/nested/);
});

test.each(['{"nul\\u0000":1}', '"a\\u0000b"', '{"half":"\\ud83d!"}', '["\\udc00"]', '["\ud83d"]'])(
  'refuses %s, which Postgres cannot store',
  (text) => {
    expect(() => parsePayload(text)).toThrow(/text with a NUL character or half a surrogate pair/);
  },
);

test('takes what only looks like it', () => {
  const text = String.raw`{"pair":"\ud83d\ude00","text":"\\u0000","emoji":"😀"}`;
  expect(parsePayload(text)).toEqual({ pair: '😀', text: '\\u0000', emoji: '😀' });
});

test('takes keys of 1,000 characters and refuses longer ones, at any depth', () => {
  expect(() => parsePayload(`[{"a":{"${'k'.repeat(1000)}":1}}]`)).not.toThrow();
  expect(() => parsePayload(`[{"a":{"${'k'.repeat(1001)}":1}}]`)).toThrow(
    /a key of more than 1000 characters \(k{40}…\)/,
  );
});

test('reads the NaN and Infinity of Python as null, but not inside strings', () => {
  expect(parsePayload('{"a":NaN,"b":[-Infinity,"NaN, \\"Infinity"]}')).toEqual({
    a: null,
    b: [null, 'NaN, "Infinity'],
  });
});

test('keeps a property called __proto__ a property', () => {
  const value = parsePayload(String.raw`{"__proto__":{"polluted":true},"x":"\ud83d\ude00"}`);
  expect(Object.hasOwn(value as object, '__proto__')).toBe(true);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test.each(['', '{', 'nonsense', '{"a":1}x', '{"a":1e1001}'])('refuses %j with the reason', (text) => {
  expect(() => parsePayload(text)).toThrow(/Malformed request data: Invalid JSON: ./);
});
