import { expect, test } from 'vitest';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import { isWrittenWithin, sameJson, toText, writtenLength } from '../../../src/server/http/json.ts';

test('writes ids as their digits', () => {
  expect(toText(parseJson('1234567890123456789'))).toBe('1234567890123456789');
  expect([toText('007'), toText(23), toText(true), toText({ a: 1 })]).toEqual([
    '007',
    '23',
    'true',
    '{"a":1}',
  ]);
});

test('compares by value', () => {
  expect(sameJson({ a: [1] }, { a: [1] })).toBe(true);
  expect(sameJson({ a: [1] }, { a: [2] })).toBe(false);
  expect(sameJson(null, {})).toBe(false);
  expect(sameJson(1, '1')).toBe(false);
  expect(sameJson({ a: undefined }, { b: undefined })).toBe(false);
  expect(sameJson([], {})).toBe(false);
  expect(sameJson({ a: 1 }, { a: 1, b: 2 })).toBe(false);
});

test('compares objects in whatever order their keys stand, and arrays in theirs', () => {
  expect(sameJson([{ a: { x: 1, y: [2] }, b: 3 }], [{ b: 3, a: { y: [2], x: 1 } }])).toBe(true);
  expect(sameJson({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
});

test('compares numbers that a double cannot hold by their digits', () => {
  const big = (last: string) => parseJson(`{"b":1,"a":123456789012345678${last}}`);
  expect(sameJson(big('1'), { ...(big('1') as object) })).toBe(true);
  expect(sameJson(big('1'), big('1'))).toBe(true);
  expect(sameJson(big('1'), big('2'))).toBe(false);
  expect(sameJson(new ExactNumber('1234567890123456781'), '1234567890123456781')).toBe(false);
});

test.each([
  ['[1e400]', 402],
  ['{"a":-1.5e+21,"b":[2E300]}', 24 + 21 + 300],
  ['[1e-400,1]', 9 + 400],
  ['{"a":"1e400","b":"x,1e9 y","1e9":1}', 35],
  ['{"a":100}', 9],
  [`[${'1e1000,'.repeat(99)}1e-1000]`, 2 + 99 * 1002 + 1002],
])('knows how long PostgreSQL makes %s', (text, length) => {
  expect(writtenLength(text)).toBeGreaterThanOrEqual(length);
  expect(writtenLength(text)).toBeLessThan(length + 8 * text.split(',').length);
  expect(isWrittenWithin(text, writtenLength(text))).toBe(true);
  expect(isWrittenWithin(text, writtenLength(text) - 1)).toBe(false);
});

test('looks for exponents only where they could make a text too long', () => {
  const large = `[${'1e1000,'.repeat(100)}1]`;
  expect(isWrittenWithin(large, 101_000)).toBe(true);
  expect(isWrittenWithin(large, 100_000)).toBe(false);
  expect(isWrittenWithin('[1]', 3)).toBe(true);
  expect(isWrittenWithin('[1]', 2)).toBe(false);
});
