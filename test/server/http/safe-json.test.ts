import { expect, test } from 'vitest';
import { ApiError } from '../../../src/server/http/errors.ts';
import { MAX_CONTAINERS, parseSafely } from '../../../src/server/http/safe-json.ts';

const MIB = 1024 * 1024;
const lists = (count: number) => `[${'[],'.repeat(count - 2)}[]${' '.repeat(4 * MIB)}]`;

test('takes as many objects and lists as may be, and refuses one more', () => {
  expect(parseSafely(lists(MAX_CONTAINERS)).value).toHaveLength(MAX_CONTAINERS - 1);
  expect(() => parseSafely(lists(MAX_CONTAINERS + 1))).toThrow(ApiError);
});

test('does not count what only looks like an object, inside a string', () => {
  const text = `${'{[\\"'.repeat(MAX_CONTAINERS)}\\\\`;
  expect(parseSafely(`["${text}", "]"]`).value).toEqual([`${'{["'.repeat(MAX_CONTAINERS)}\\`, ']']);
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
  expect(parseSafely(`{"a":NaN,"b":"${long}","c":[-Infinity,"NaN \\" Infinity",Infinity]}`).value).toEqual({
    a: null,
    b: '\\'.repeat(MIB),
    c: [null, 'NaN " Infinity', null],
  });
});

test.each(['[NaNa]', '[-NaN1]', '[NaN', '["a"NaN]'])('does not make JSON of %s', (text) => {
  expect(() => parseSafely(text)).toThrow(SyntaxError);
});
