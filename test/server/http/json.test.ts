import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { expect, test } from 'vitest';
import { parseJson, sameJson, stringifyJson, textOf, writtenLength } from '../../../src/server/http/json.ts';

test.each([
  '1234567890123456789',
  '-9007199254740993',
  '0.12345678901234567890',
  '1234567.89012345678',
  '1e21',
  '1.50e2',
  '[1,12345678901234567890]',
  '{"a":{"b":[9007199254740993]}}',
  ' 12345678901234567890',
])('keeps every digit of %s', (text) => {
  expect(stringifyJson(parseJson(text).value)).toBe(text.trim());
});

test('leaves ordinary numbers to be numbers, also beside a long one', () => {
  expect(parseJson('[1,2.5,-3]')).toEqual({ value: [1, 2.5, -3], lossless: false });
  const { value } = parseJson('[1,2.5,12345678901234567890]');
  expect(value).toEqual([1, 2.5, new LosslessNumber('12345678901234567890')]);
});

test('agrees with JSON.parse on every document', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(stringifyJson(parseJson(text).value))).toEqual(JSON.parse(text));
    }),
  );
});

test('takes the last of repeated keys, as JSON.parse does, on both paths', () => {
  expect(parseJson('{"a":1,"a":2}').value).toEqual({ a: 2 });
  expect(parseJson('{"a":1,"a":2,"b":12345678901234567890}').value).toMatchObject({ a: 2 });
});

test('refuses a number that would fill pages', () => {
  expect(() => parseJson('1e401')).toThrow(/out of range/);
  expect(stringifyJson(parseJson('1e400').value)).toBe('1e400');
});

test('writes ids as their digits', () => {
  expect(textOf(parseJson('1234567890123456789').value)).toBe('1234567890123456789');
  expect([textOf('007'), textOf(23), textOf(true), textOf({ a: 1 })]).toEqual([
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
  const big = (last: string) => parseJson(`{"b":1,"a":123456789012345678${last}}`).value;
  expect(sameJson(big('1'), { ...(big('1') as object) })).toBe(true);
  expect(sameJson(big('1'), big('1'))).toBe(true);
  expect(sameJson(big('1'), big('2'))).toBe(false);
  expect(sameJson(new LosslessNumber('1234567890123456781'), '1234567890123456781')).toBe(false);
});

test.each([
  ['[1e400]', 402],
  ['{"a":-1.5e+21,"b":[2E300]}', 24 + 21 + 300],
  ['[1e-400,1]', 9 + 400],
  ['{"a":"1e400","b":"x,1e9 y","1e9":1}', 35],
  ['{"a":100}', 9],
])('knows how long Postgres makes %s', (text, length) => {
  expect(writtenLength(text)).toBeGreaterThanOrEqual(length);
  expect(writtenLength(text)).toBeLessThan(length + 8);
});
