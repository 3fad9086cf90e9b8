import fc from 'fast-check';
import { LosslessNumber, parse, stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from '../../../src/lib/json/exact-json.ts';

const isUnsafe = (digits: string) => digits.length >= 16 || !Number.isFinite(Number(digits));
const BIG = '17259218640139649024';

/** What lossless-json makes of it, which does all the work itself. */
const oracle = (text: string): unknown =>
  parse(text, null, {
    parseNumber: (digits) => (isUnsafe(digits) ? new LosslessNumber(digits) : Number(digits)),
    onDuplicateKey: ({ newValue }) => newValue,
  });

/** JSON texts with numbers of any length, in any layout, and strings that look like numbers and marks. */
const texts = fc.letrec((tie) => {
  const blank = fc.constantFrom('', ' ', '\n\t');
  const number = fc.constantFrom(BIG, `-${BIG}.50`, '1e400', '0', '-7.5', '1E5', '0.12345678901234567');
  const text = fc.oneof(
    fc.string(),
    fc.constantFrom(`: ${BIG},`, `\x7f${BIG}`, '\x7f', `"\x7f5`, '\\', '\\\\"', `"${BIG}"`),
  );
  const list = fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 4 });
  const key = text.map((name) => JSON.stringify(`k${name}`));
  const field = fc.tuple(key, blank, tie('value') as fc.Arbitrary<string>);
  return {
    value: fc.oneof(
      { maxDepth: 4 },
      number,
      fc.constantFrom('true', 'null'),
      text.map((value) => JSON.stringify(value)),
      fc.tuple(list, blank).map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
      fc
        .array(field, { maxLength: 4 })
        .map((fields) => `{${fields.map(([name, gap, value]) => `${name}${gap}:${gap}${value}`).join(',')}}`),
    ),
  };
}).value as fc.Arbitrary<string>;

describe('exact JSON', () => {
  it('reads and writes what lossless-json does', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const expected = oracle(text);
        const { value } = parseExact(text, isUnsafe);
        expect(value).toEqual(expected);
        expect(stringifyExact(value)).toBe(stringify(expected));
      }),
      { numRuns: 2000 },
    );
  });

  it('says whether there was such a number outside of strings', () => {
    expect(parseExact(`{"a":"${BIG}, ${BIG}"}`, isUnsafe).exact).toBe(false);
    expect(parseExact(`{"a":["${BIG}\\\\",${BIG}]}`, isUnsafe).exact).toBe(true);
    expect(parseExact(BIG, isUnsafe).value).toEqual(new LosslessNumber(BIG));
  });

  it('leaves strings alone that start with its mark, written plainly or escaped', () => {
    for (const mark of ['\x7f', '\\u007f', '\\u007F']) {
      const { value } = parseExact(`{"a":"${mark}123","b":${BIG}}`, isUnsafe);
      expect(value).toEqual({ a: '\x7f123', b: new LosslessNumber(BIG) });
    }
    const value = { a: '\x7f123', b: new LosslessNumber(BIG), c: 'x"\x7f5' };
    expect(stringifyExact(value)).toBe(`{"a":"\x7f123","b":${BIG},"c":"x\\"\x7f5"}`);
  });

  it('makes no JSON of what is none', () => {
    for (const text of [
      `{${BIG}:1}`,
      `{"a":1,${BIG} :1}`,
      `{"a":0${BIG}}`,
      `{"a":+${BIG}}`,
      `{"a":${BIG}x}`,
      `{"a":${BIG}.}`,
      `{"a":${BIG} ${BIG}}`,
      `{"a":"b" ${BIG}}`,
      `["a"${BIG}]`,
      `{"a":${BIG}`,
      `{"a":${BIG},"b}`,
    ]) {
      expect(() => parseExact(text, isUnsafe), text).toThrow(SyntaxError);
    }
  });

  it('takes linear time on a flood of digits that is no number', () => {
    const flood = `{"a":${'1'.repeat(4_000_000)}x,"b":${'-'.repeat(1_000_000)}${'1 '.repeat(1_000_000)}}`;
    expect(() => parseExact(flood, () => true)).toThrow(SyntaxError);
  }, 5_000);
});
