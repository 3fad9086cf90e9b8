import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quote } from '../../../src/lib/json/quote.ts';

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 90, maxLength: 110 }),
  fc.constantFrom('', '"', '""', '"a', 'a"', '\\', '"\\"', 'ü', '\ud800', '\x7f', '\t'),
);

test('writes what JSON.stringify writes, also of a text that is JSON itself', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(quote(text)).toBe(JSON.stringify(text));
      const json = JSON.stringify(text);
      expect(quote(json)).toBe(JSON.stringify(json));
    }),
    { numRuns: 1_000 },
  );
});
