const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/**
 * A text in the format of `LZString.compressToBase64` that unfolds to `phrases * phrases / 2` letters:
 * each phrase is the one before and a letter more. The library's own writer takes minutes for it.
 */
export function lzBomb(phrases: number): string {
  const bits: number[] = [];
  const put = (value: number, count: number) => {
    for (let bit = 0; bit < count; bit++) bits.push((value >> bit) & 1);
  };
  const measureWidth = (phraseCount: number) => Math.max(3, 32 - Math.clz32(phraseCount));
  put(0, 2); // a new letter of eight bits
  put('a'.charCodeAt(0), 8);
  for (let next = 4; next < phrases + 4; next++) put(next, measureWidth(next)); // the phrase just begun
  put(2, measureWidth(phrases + 4)); // the end
  let text = '';
  for (let at = 0; at < bits.length; at += 6) {
    let digit = 0;
    for (let bit = 0; bit < 6; bit++) digit = digit * 2 + (bits[at + bit] ?? 0);
    text += ALPHABET.charAt(digit);
  }
  return text;
}
