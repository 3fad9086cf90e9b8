import fc from 'fast-check';
import * as oracle from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { ExactNumber, isExactNumber, losesDigits } from '../../../src/lib/json/exact-number.ts';
import { parseJson, tryParseJson } from '../../../src/lib/json/parse-json.ts';
import { stringifyJson } from '../../../src/lib/json/stringify-json.ts';

const BIG = '17259218640139649024';

/** What lossless-json makes of it, a parser of its own: the exact numbers as its objects. */
const parseWithOracle = (text: string): unknown =>
  oracle.parse(text, null, {
    parseNumber: (digits) => (losesDigits(digits) ? new oracle.LosslessNumber(digits) : Number(digits)),
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

/** What came of it: the text of the value, or that there is none. */
function readOutcome(read: (text: string) => unknown, text: string): unknown {
  try {
    return { value: read(text) };
  } catch (error) {
    return error instanceof SyntaxError ? 'no JSON' : error;
  }
}

describe('JSON with exact numbers', () => {
  it('is read and written as another parser of exact numbers does', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(stringifyJson(parseJson(text))).toBe(oracle.stringify(parseWithOracle(text)));
      }),
      { numRuns: 2000 },
    );
  });

  it('holds an exact number where digits would be lost, and nowhere else', () => {
    expect(parseJson(`{"a":"${BIG}, ${BIG}"}`)).toEqual({ a: `${BIG}, ${BIG}` });
    expect(parseJson(`{"a":["${BIG}\\\\",${BIG},1,2.50]}`)).toEqual({
      a: [`${BIG}\\`, new ExactNumber(BIG), 1, 2.5],
    });
    expect(parseJson(BIG)).toEqual(new ExactNumber(BIG));
    expect(isExactNumber(parseJson(` ${BIG}\n`))).toBe(true);
  });

  it('reads whatever JSON there is as JSON.parse does, with and without a long number beside it', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.nat(4), (text, indent) => {
        const plain: unknown = JSON.parse(text);
        const spread = ` \n${JSON.stringify(plain, null, indent)}\t\r`;
        // Written again, for numbers such as 1e-300 are exact where they are spelled out.
        expect(JSON.parse(stringifyJson(parseJson(text)))).toEqual(plain);
        expect(parseJson(`[${spread},${BIG}]`)).toEqual([plain, new ExactNumber(BIG)]);
      }),
    );
  });

  it('takes and refuses the same texts as JSON.parse, near JSON and far from it', () => {
    const pieces = fc.constantFrom(
      ...['{', '}', '[', ']', ',', ':', '"', '\\', '"a"', '"\\u00e9"', '"\\x"', '-', '0', '1', '.', '5', 'e'],
      ...[
        'true',
        'false',
        'null',
        'nul',
        ' ',
        '\n',
        '\0',
        '\u00a0',
        '\ufeff',
        '"__proto__"',
        '01',
        '1.',
        '.5',
      ],
      ...[BIG, `-${BIG}`, `0${BIG}`, '1e400', 'E+2', 'e400'],
    );
    /** Minus zero is written as zero. */
    const read = (text: string): unknown =>
      JSON.parse(text, (_key, value: unknown) => (typeof value === 'number' ? value + 0 : value));
    const isSame = (text: string) =>
      expect(readOutcome((json) => read(stringifyJson(parseJson(json))), text)).toEqual(
        readOutcome(read, text),
      );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
        isSame(parts.join(''));
      }),
      { numRuns: 5000 },
    );
    fc.assert(
      fc.property(fc.json(), fc.nat(), pieces, (text, place, piece) => {
        const at = place % (text.length + 1);
        isSame(text.slice(0, at) + piece + text.slice(at));
        isSame(text.slice(0, at) + text.slice(at + 1));
      }),
      { numRuns: 2000 },
    );
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
      `[tru${BIG}]`,
      `{"a":${BIG}`,
      `{"a":${BIG},"b}`,
    ]) {
      expect(() => parseJson(text), text).toThrow(SyntaxError);
      expect(tryParseJson(text)).toBeUndefined();
    }
  });

  it('is refused with the words of JSON.parse, which quote the text as it came', () => {
    for (const text of [`{"a":${BIG},}`, `[${BIG}x]`, `{"${BIG}":}`]) {
      let expected = '';
      try {
        JSON.parse(text);
      } catch (error) {
        expected = String(error);
      }
      expect(expected).toContain('SyntaxError');
      expect(() => parseJson(text)).toThrow(expected.replace('SyntaxError: ', ''));
    }
  });

  it('keeps strings with control characters, escaped or not, beside a long number', () => {
    for (const text of ['\x7f123', '\\u007f123', '\\u007F123', 'x\\"\x7f5']) {
      expect(stringifyJson(parseJson(`{"a":"${text}","b":${BIG}}`))).toBe(
        `{"a":${JSON.stringify(JSON.parse(`"${text}"`))},"b":${BIG}}`,
      );
    }
  });

  it('makes a property of __proto__, the last of those that repeat', () => {
    for (const more of ['3', BIG]) {
      const value = parseJson(`{"__proto__":{"a":${BIG}},"b":1,"b":2,"__proto__":${more}}`);
      expect(stringifyJson(value)).toBe(`{"__proto__":${more},"b":2}`);
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    }
    const nested = parseJson(`{"__proto__":{"admin":${BIG}}}`);
    expect(stringifyJson(nested)).toBe(`{"__proto__":{"admin":${BIG}}}`);
    expect(Object.getPrototypeOf(nested)).toBe(Object.prototype);
  });

  it('refuses a long number beneath a thousand levels instead of overflowing the stack', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${BIG}${']'.repeat(levels)}`;
    expect(stringifyJson(parseJson(nested(1000)))).toBe(nested(1000));
    expect(() => parseJson(nested(1001))).toThrow(/nested more than 1000 levels/);
    expect(() => parseJson(nested(1_000_000))).toThrow(SyntaxError);
  });

  it('reads a string of megabytes at once, with and without escapes', () => {
    const long = 'x'.repeat(10_000_000);
    expect(parseJson(`["${long}","${long}\\n",${BIG}]`)).toEqual([long, `${long}\n`, new ExactNumber(BIG)]);
  });

  it('reads a hundred thousand long numbers in a row', () => {
    const list = `[${`${BIG},`.repeat(99_999)}${BIG}]`;
    expect(stringifyJson(parseJson(list))).toBe(list);
  });

  it('takes linear time on floods of digits, numbers and zeros', () => {
    const flood = `{"a":${'1'.repeat(4_000_000)}x,"b":${'-'.repeat(1_000_000)}${'1 '.repeat(1_000_000)}}`;
    expect(() => parseJson(flood)).toThrow(SyntaxError);
    const zeros = `0.1${'0'.repeat(1_000_000)}1`;
    expect(stringifyJson(parseJson(`[${zeros}]`))).toBe(`[${zeros}]`);
    expect(parseJson(`[0.1${'0'.repeat(1_000_000)}]`)).toEqual([0.1]);
  }, 5_000);
});
