import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseLossless } from '../../../src/server/http/parse-lossless.ts';

const parse = (text: string) => parseLossless(text, Number);

/** What came of it: the value, or that there is none. */
function outcome(read: (text: string) => unknown, text: string): unknown {
  try {
    return { value: read(text) };
  } catch (error) {
    return error instanceof SyntaxError ? 'no JSON' : error;
  }
}

test('reads whatever JSON there is as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat(4), (text, indent) => {
      expect(parse(text)).toEqual(JSON.parse(text));
      const spread = JSON.stringify(JSON.parse(text), null, indent);
      expect(parse(` \n${spread}\t\r`)).toEqual(JSON.parse(text));
    }),
  );
});

test('takes and refuses the same texts as JSON.parse, near JSON and far from it', () => {
  const pieces = fc.constantFrom(
    ...[
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '"a"',
      '"\\u00e9"',
      '"\\x"',
      '-',
      '0',
      '1',
      '.',
      '5',
      'e',
      'E+2',
    ],
    ...['true', 'false', 'null', 'nul', ' ', '\n', '\0', '\u00a0', '\ufeff', '"__proto__"', '01', '1.', '.5'],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 12 }), (parts) => {
      const text = parts.join('');
      expect(outcome(parse, text)).toEqual(outcome(JSON.parse, text));
    }),
    { numRuns: 5000 },
  );
  fc.assert(
    fc.property(fc.json(), fc.nat(), pieces, (text, place, piece) => {
      const at = place % (text.length + 1);
      for (const broken of [
        text.slice(0, at) + piece + text.slice(at),
        text.slice(0, at) + text.slice(at + 1),
      ]) {
        expect(outcome(parse, broken)).toEqual(outcome(JSON.parse, broken));
      }
    }),
    { numRuns: 2000 },
  );
});

test('hands over the text of each number, and of nothing else', () => {
  const seen: string[] = [];
  parseLossless('{"1":[-0.50e+3, 12345678901234567890],"a":"2"}', (digits) => seen.push(digits));
  expect(seen).toEqual(['-0.50e+3', '12345678901234567890']);
});

test('makes a property of __proto__, the last of those that repeat', () => {
  const value = parse('{"__proto__":{"a":1},"b":1,"b":2,"__proto__":3}') as Record<string, unknown>;
  expect(Object.entries(value)).toEqual([
    ['__proto__', 3],
    ['b', 2],
  ]);
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test('says what is wrong as JSON.parse does', () => {
  expect(() => parse('{"a":1,}')).toThrow(/JSON at position 7/);
});

test('reads a string of megabytes at once, with and without escapes', () => {
  const long = 'x'.repeat(10_000_000);
  expect(parse(`["${long}","${long}\\n"]`)).toEqual([long, `${long}\n`]);
});
