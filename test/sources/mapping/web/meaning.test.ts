import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RecordScanner } from '../../../../src/lib/json/record-scanner.ts';
import { readField } from '../../../../src/lib/json/record-view.ts';
import { hasMeaning } from '../../../../src/sources/mapping/web/meaning.ts';

const WORDS = ['', 'EMPTY', 'unknown', 'null', 'undefined', '(not set)'];
const word = fc.oneof(
  fc.constantFrom(...WORDS, 'Chrome', 'nullable', 'unknown to us', 'E', 'not set', 'Über', 'é'),
  fc.string({ unit: 'binary', maxLength: 14 }),
);
const blank = fc.constantFrom('', '', ' ', '\t', '\u00a0', '\u2003');
const text = fc
  .tuple(blank, word, blank, fc.boolean())
  .map(([before, each, behind, isUpper]) => before + (isUpper ? each.toUpperCase() : each) + behind);

it('is missing from what vendors write where they know nothing, in any case and between blanks', () => {
  const scanner = new RecordScanner(new Set(['own']));
  fc.assert(
    fc.property(text, (value) => {
      const isNothing = WORDS.some((each) => each.toLowerCase() === value.trim().toLowerCase());
      expect(hasMeaning(value)).toBe(!isNothing);
      const bytes = Buffer.from(`${JSON.stringify({ own: { value } })}\n`);
      const view = scanner.scan(bytes, 0, bytes.length - 1);
      const own = view && readField(view as unknown as Readonly<Record<string, unknown>>, 'own');
      const token = (own as { members: { values: unknown[] } } | undefined)?.members.values[0];
      if (token !== undefined) expect(hasMeaning(token)).toBe(!isNothing);
    }),
    { numRuns: 2_000 },
  );
});
