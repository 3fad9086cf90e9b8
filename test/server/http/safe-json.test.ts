import { expect, test } from 'vitest';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';
import { ApiError } from '../../../src/server/http/errors.ts';
import { MAX_CONTAINERS, parseSafely } from '../../../src/server/http/safe-json.ts';

const MIB = 1024 * 1024;
const lists = (count: number) => `[${'[],'.repeat(count - 2)}[]${' '.repeat(4 * MIB)}]`;

test('takes as many objects and lists as may be, and refuses one more', () => {
  expect(parseSafely(lists(MAX_CONTAINERS))).toHaveLength(MAX_CONTAINERS - 1);
  expect(() => parseSafely(lists(MAX_CONTAINERS + 1))).toThrow(ApiError);
});

test('does not count what only looks like an object, inside a string', () => {
  const text = `${'{[\\"'.repeat(MAX_CONTAINERS)}\\\\`;
  expect(parseSafely(`["${text}", "]"]`)).toEqual([`${'{["'.repeat(MAX_CONTAINERS)}\\`, ']']);
});

test.each([
  ['escaped quotes outside of any string', `NaN${'\\"'.repeat(MIB)}`],
  ['a string without end', `[NaN,"${'\\"'.repeat(MIB)}`],
  ['backslashes without end', `[NaN,"${'\\'.repeat(2 * MIB)}`],
])('reads %s once, not once for each', (_name, text) => {
  expect(() => parseSafely(text)).toThrow(SyntaxError);
});

test('replaces NaN beside strings of any length', () => {
  const long = '\\\\'.repeat(MIB);
  expect(parseSafely(`{"a":NaN,"b":"${long}","c":[-Infinity,"NaN \\" Infinity",Infinity]}`)).toEqual({
    a: null,
    b: '\\'.repeat(MIB),
    c: [null, 'NaN " Infinity', null],
  });
});

test.each(['[NaNa]', '[-NaN1]', '[NaN', '["a"NaN]'])('does not make JSON of %s', (text) => {
  expect(() => parseSafely(text)).toThrow(SyntaxError);
});

test('refuses a number that would fill pages', () => {
  for (const number of ['1e1000', '-1.5E-1000', '9'.repeat(2000)]) {
    expect(stringifyJson(parseSafely(`[${number}]`))).toBe(`[${number}]`);
  }
  for (const number of ['1e1001', '1E-1001', '1e99999999999']) {
    expect(() => parseSafely(`{"a":[${number}]}`)).toThrow(/out of range/);
    expect(stringifyJson(parseJson(number))).toBe(number);
  }
});
