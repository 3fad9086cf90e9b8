/**
 * Reads what `LZString.compressToBase64` of browser clients wrote. The library's own reader has no bound
 * on its output, and a few kilobytes of this format can grow to gigabytes.
 *
 * The format is LZ78 over UTF-16 units, read bit by bit, lowest bit first, from 6-bit characters whose
 * highest bit comes first. Codes 0 and 1 announce a new unit of 8 or 16 bits, 2 ends the text; every
 * other code names a phrase seen before.
 */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BITS_PER_CHARACTER = 6;
const NEW_UNIT_8 = 0;
const NEW_UNIT_16 = 1;
const END = 2;

/** Text, `broken` when this is not lz-string, or `too_large` when it would pass `maxLength` characters. */
export type Decompressed =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'broken' | 'too_large' };

export function decompressLz(base64: string, maxLength: number): Decompressed {
  const readBits = createBitReader(base64);
  const phrases: string[] = ['', '', '']; // codes 0 to 2 are taken
  const output: string[] = [];
  let length = 0;
  let previous: string | undefined;
  let codeBits = 2;
  for (;;) {
    const code = readBits(codeBits);
    if (code === undefined) return { kind: 'broken' };
    if (code === END) return { kind: 'text', text: output.join('') };
    let phrase: string;
    if (code === NEW_UNIT_8 || code === NEW_UNIT_16) {
      const unit = readBits(code === NEW_UNIT_8 ? 8 : 16);
      if (unit === undefined) return { kind: 'broken' };
      phrase = String.fromCharCode(unit);
      phrases.push(phrase);
    } else if (code < phrases.length) {
      phrase = phrases[code] ?? '';
    } else if (code === phrases.length && previous !== undefined) {
      phrase = previous + previous.charAt(0);
    } else {
      return { kind: 'broken' };
    }
    length += phrase.length;
    if (length > maxLength) return { kind: 'too_large' };
    output.push(phrase);
    if (previous !== undefined) phrases.push(previous + phrase.charAt(0));
    previous = phrase;
    codeBits = countCodeBits(phrases.length);
  }
}

/** The writer widens its codes as soon as the next phrase of its dictionary needs it. */
function countCodeBits(phraseCount: number): number {
  return Math.max(3, 32 - Math.clz32(phraseCount));
}

function createBitReader(base64: string): (count: number) => number | undefined {
  let at = 0;
  let value = 0;
  let left = 0;
  return (count) => {
    let bits = 0;
    for (let bit = 0; bit < count; bit++) {
      if (left === 0) {
        value = ALPHABET.indexOf(base64.charAt(at));
        if (value === -1 || at >= base64.length) return undefined;
        at += 1;
        left = BITS_PER_CHARACTER;
      }
      left -= 1;
      bits |= ((value >> left) & 1) << bit;
    }
    return bits;
  };
}
