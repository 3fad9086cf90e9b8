import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ExactNumber } from '../../../src/lib/json/exact-number.ts';
import { parseJson } from '../../../src/lib/json/parse-json.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';

const BIG = '17259218640139649024';

it('writes what JSON.stringify does, but null for undefined', () => {
  fc.assert(
    fc.property(fc.anything({ withBigInt: false, withDate: true }), (value) => {
      const expected = JSON.stringify(value) ?? 'null';
      expect(stringifyJson(value)).toBe(expected);
      expect(stringifyJson([value, new ExactNumber(BIG)])).toBe(`[${expected},${BIG}]`);
    }),
  );
  expect(stringifyJson(undefined)).toBe('null');
  expect(stringifyJson({ a: undefined, b: [undefined] })).toBe('{"b":[null]}');
});

it('writes exact numbers with their digits, wherever they are', () => {
  expect(stringifyJson(new ExactNumber(BIG))).toBe(BIG);
  const value = { a: '\x7f123', b: new ExactNumber(BIG), c: 'x"\x7f5', d: [new ExactNumber('-1E-400')] };
  expect(stringifyJson(value)).toBe(`{"a":"\x7f123","b":${BIG},"c":"x\\"\x7f5","d":[-1E-400]}`);
});

it('leaves JSON.stringify the digits as a string', () => {
  const value = parseJson(`{"id":${BIG}}`);
  expect(JSON.stringify(value)).toBe(`{"id":"${BIG}"}`);
  expect(stringifyJson(value)).toBe(`{"id":${BIG}}`);
  expect(JSON.stringify(value)).toBe(`{"id":"${BIG}"}`);
});

it('is ready for the next value after one that cannot be written', () => {
  const circle: unknown[] = [];
  circle.push(circle);
  expect(() => stringifyJson([new ExactNumber(BIG), circle])).toThrow(TypeError);
  expect(JSON.stringify(new ExactNumber(BIG))).toBe(`"${BIG}"`);
  expect(stringifyJson(new ExactNumber(BIG))).toBe(BIG);
});

it('is a number to whoever calculates with it', () => {
  expect(Number(new ExactNumber('1597568591913.1234567'))).toBe(1597568591913.1235);
  expect(Number(new ExactNumber('1e400'))).toBe(Number.POSITIVE_INFINITY);
  expect(String(new ExactNumber(BIG))).toBe(BIG);
});
