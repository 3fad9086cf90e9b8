import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TextBuffer } from '../../src/lib/text-buffer.ts';

const text = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom('"', '\\', '\t', '\u007f', 'é', '\ud800', 'a'), maxLength: 100 }),
);

const read = (out: TextBuffer) => out.bytes.toString('utf8', 0, out.end);

test('a text is written as UTF-8, whatever its length and characters', () => {
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const out = new TextBuffer(8);
      for (const one of texts) out.write(one);
      expect(read(out)).toBe(texts.map((one) => Buffer.from(one).toString()).join(''));
    }),
  );
});

test('a string is written as JSON.stringify writes it', () => {
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const out = new TextBuffer(8);
      for (const one of texts) out.writeString(one);
      expect(read(out)).toBe(texts.map((one) => JSON.stringify(one)).join(''));
    }),
  );
});

test('bytes are copied from where they are', () => {
  const out = new TextBuffer(8);
  const from = Buffer.from('0123456789'.repeat(2_000));
  out.copy(from, 3, 7);
  out.copy(from, 0, from.length);
  expect(read(out)).toBe(`3456${from.toString()}`);
});
