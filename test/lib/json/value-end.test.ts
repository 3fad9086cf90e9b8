import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findValueEnd, findValueEndInText } from '../../../src/lib/json/value-end.ts';

/** Of lengths around those of which a native function finds the end. */
const long = fc
  .tuple(fc.nat({ max: 130 }), fc.constantFrom('x', '\\', '"', 'ü', '"]}', '\\"', '\u0001', '\u{1f600}'))
  .map(([length, unit]) => unit.repeat(length));
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    long,
    fc.string({ unit: 'binary' }),
    fc.double({ noNaN: true }),
    fc.constantFrom(null, true, 0),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(long, fc.string()), tie('value'), { maxKeys: 3 }),
  ),
})).value;

it('finds the end of any value in text and in bytes, whatever follows', () => {
  fc.assert(
    fc.property(anyValue, fc.constantFrom(',"a":1}', ']', '}'), (value, rest) => {
      const text = JSON.stringify(value) ?? 'null';
      expect(findValueEndInText(`[${text}${rest}`, 1)).toBe(1 + text.length);
      const bytes = Buffer.from(`[${text}${rest}"`);
      expect(findValueEnd(bytes, 1, bytes.length - 1)).toBe(1 + Buffer.byteLength(text));
    }),
    { numRuns: 500 },
  );
});

it('does not look behind the stop, where other text may be', () => {
  const bytes = Buffer.from(`["${'x'.repeat(100)}","y"]`);
  expect(() => findValueEnd(bytes, 1, 50)).toThrow('without an end');
  expect(() => findValueEnd(bytes, 1, 102)).toThrow('without an end');
  expect(findValueEnd(bytes, 1, 103)).toBe(103);
});
