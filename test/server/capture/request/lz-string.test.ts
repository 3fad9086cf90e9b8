import fc from 'fast-check';
import lzString from 'lz-string';
import { expect, test } from 'vitest';
import { decompressLz } from '../../../../src/server/capture/request/lz-string.ts';

test('reads whatever the library of browser clients writes', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.json()), (text) => {
      expect(decompressLz(lzString.compressToBase64(text), 1_000_000)).toEqual({ kind: 'text', text });
    }),
    { numRuns: 300 },
  );
});

test('reads long repetitive text, where codes grow wide', () => {
  const text = Array.from({ length: 5000 }, (_, at) => `{"event":"e${at % 97}","n":${at}}`).join('');
  expect(decompressLz(lzString.compressToBase64(text), text.length)).toEqual({ kind: 'text', text });
});

test('stops a text that would grow past the bound', () => {
  const bomb = lzString.compressToBase64('a'.repeat(1_000_000));
  expect(bomb.length).toBeLessThan(5000);
  expect(decompressLz(bomb, 999_999)).toEqual({ kind: 'too_large' });
  expect(decompressLz(bomb, 1_000_000).kind).toBe('text');
});

test.each(['', '!!!!', 'A', 'BB', '////////////'])('calls %j broken', (text) => {
  expect(decompressLz(text, 1000)).toEqual({ kind: 'broken' });
});
